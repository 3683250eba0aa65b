import { openEventStream } from './event-stream.js';
import { io } from './socket.io.js';

/** Longest time for an acknowledgement, ms. */
const ACK_MS = 8_000;

/** Time before reconnecting after a refused connection, ms. */
const REFUSED_PAUSE_MS = 3_000;

/** An error answer: `code` is the stable code, the message its texts. */
export class Refusal extends Error {
  constructor(body) {
    super(body.errors?.join('; ') ?? body.message);
    this.status = body.status;
    this.code = body.message;
  }
}

/** The sample members with their tokens, and the gateway's port. */
export async function loadDemo() {
  const answer = await fetch('/demo/tokens');
  const body = await answer.json();
  if (!answer.ok) throw new Refusal(body);
  return body;
}

/**
 * One member's connection: REST calls, a socket and an event stream, with tokens renewed when they
 * end.
 *
 * @param member from /demo/tokens
 * @param gateway address of the sockets
 */
export function createSession(member, gateway) {
  let { token } = member;
  let closeStream;
  let closed = false;
  let renewing = false;
  const socket = io(gateway, {
    auth: (give) => give({ token }),
    transports: ['websocket'],
    forceNew: true,
    autoConnect: false,
  });

  async function renew() {
    const { members } = await loadDemo();
    token = members.find(({ no }) => no === member.no)?.token ?? token;
    return token;
  }

  /** Reconnects with a new token after the old one expired. */
  async function reconnect() {
    renewing = false;
    await renew();
    if (!closed) socket.connect();
  }

  async function call(method, path, body, again = true) {
    const answer = await fetch(path, {
      method,
      headers: { Authorization: token, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const content = await answer.json();
    if (answer.ok) return content;
    if (content.message === 'TOKEN_EXPIRED' && again) {
      await renew();
      return call(method, path, body, false);
    }
    throw new Refusal(content);
  }

  return {
    member,
    /**
     * Connects both, and keeps them connected.
     * @param listener `socket(event, value)`, `connection(state, text)`, `notification(record)`,
     *   `stream(state)`
     */
    connect(listener) {
      socket.on('connect', () => listener.connection('open', 'connected'));
      socket.on('disconnect', (reason) => {
        // The client does not reconnect automatically after the server has closed the connection.
        if (renewing) void reconnect();
        else if (!closed) listener.connection('connecting', reason);
      });
      socket.on('connect_error', (error) => {
        const { data } = error;
        listener.connection('connecting', data?.errors?.[0] ?? error.message);
        if (data?.message === 'TOKEN_EXPIRED') void reconnect();
        // The client stops reconnecting after a refusal, not after a network failure.
        else if (data) setTimeout(() => closed || socket.connect(), REFUSED_PAUSE_MS);
      });
      socket.on('auth:expiring', async () => socket.emit('auth:refresh', { token: await renew() }));
      socket.on('closing', ({ code, text }) => {
        renewing = code === 'TOKEN_EXPIRED';
        listener.connection('closed', text);
      });
      socket.on('drain', () => listener.connection('connecting', 'the server is restarting'));
      for (const event of ['message', 'message:read', 'typing', 'presence', 'room']) {
        socket.on(event, (value) => listener.socket(event, value));
      }

      closeStream = openEventStream(() => token, {
        notification: listener.notification,
        state: listener.stream,
        expired: renew,
      });
      socket.connect();
    },
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
    /** Sends an event and resolves to its acknowledgement; an error acknowledgement is thrown. */
    async ask(event, request) {
      const answer = await socket.timeout(ACK_MS).emitWithAck(event, request);
      if (answer.status !== 200) throw new Refusal(answer);
      return answer;
    },
    /** Sends an event that needs no acknowledgement; drops it if not connected. */
    tell: (event, value) => socket.volatile.emit(event, value),
    close() {
      closed = true;
      closeStream?.();
      socket.disconnect();
    },
  };
}
