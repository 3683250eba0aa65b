import { expect } from 'chai';
import type { Socket } from 'socket.io-client';
import type { MessagePayload as Message, RoomView } from '../../../domain/kernel/live.js';
import type { ClusterMember } from '../../support/cluster-members.js';
import { eventually, sleep } from '../../support/eventually.js';
import { socketOf } from '../../support/sockets.js';
import type { Checker, View } from './checker.js';

/** Timeout of an answer, ms; then the client retries. */
const TIMEOUT_MS = 5_000;

/** Pause before a refused connection or request is retried, ms. */
const RETRY_AFTER_MS = 50;

/** Longest time for which a message is retried, ms. */
const RETRY_FOR_MS = 25_000;

/** A connection that the server closed; times in ms. */
interface Loss {
  at: number;
  reason: string;
  back?: number;
}

/**
 * A client as an application should be: it reconnects by itself, to another gateway if need be, catches up from its
 * last message number, and resends what was not acknowledged under the same `clientId`.
 */
export interface ChatClient {
  readonly who: ClusterMember;
  /** Connections closed by the server, in order. */
  readonly losses: Loss[];
  /** Addresses of its connections, in order. */
  readonly visited: string[];
  /** The latest `room` event of each room. */
  readonly list: Map<number, RoomView>;
  /** The open connection, now or later. */
  socket(): Promise<Socket>;
  /** Joins a room, now and after each reconnect; resolves once it has caught up. */
  enter(chatNo: number): Promise<View>;
  /** Sends until acknowledged. */
  send(chatNo: number, content?: string): Promise<Message>;
  close(): void;
}

interface JoinAnswer {
  status: number;
  messages: Message[];
  more: boolean;
}

/** A room that the client has entered, and the socket that receives its messages. */
interface Entered {
  view: View;
  liveOn?: Socket;
}

/** @param address the gateway to connect to, called before each attempt */
export function createChatClient(
  name: string,
  who: ClusterMember,
  address: () => string,
  checker: Checker,
): ChatClient {
  const views = new Map<number, Entered>();
  const losses: Loss[] = [];
  const visited: string[] = [];
  const list = new Map<number, RoomView>();
  let waiting: ((socket: Socket) => void)[] = [];
  let current: Socket | undefined;
  let closed = false;
  let drainMs = 0;
  let sent = 0;

  /** Shows messages in the acknowledgement's callback, not after an await: a live one may be in the same chunk. */
  function joinOnce(socket: Socket, chatNo: number, entered: Entered): Promise<{ more: boolean }> {
    return new Promise((resolve, reject) => {
      const request = { chatNo, after: entered.view.last };
      const onAnswer = (error: Error | null, answer: JoinAnswer) => {
        if (error || answer.status !== 200) {
          reject(error ?? new Error(JSON.stringify(answer)));
          return;
        }
        for (const message of answer.messages) entered.view.show(message);
        if (!answer.more) entered.liveOn = socket;
        resolve(answer);
      };
      socket.timeout(TIMEOUT_MS).emit('room:join', request, onAnswer);
    });
  }

  async function catchUp(socket: Socket, chatNo: number): Promise<void> {
    const entered = views.get(chatNo);
    while (entered && (await joinOnce(socket, chatNo, entered)).more);
  }

  async function connectOnce(): Promise<Socket> {
    const base = address();
    const socket = await socketOf({ auth: { token: who.token }, timeout: TIMEOUT_MS }, base);
    socket.on('message', (message: Message) => {
      const entered = views.get(message.chatNo);
      if (entered?.liveOn === socket) entered.view.show(message);
    });
    socket.on('room', (room: RoomView) => list.set(room.chatNo, room));
    socket.on('drain', ({ retryAfterMs }: { retryAfterMs: number }) => {
      drainMs = retryAfterMs;
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    visited.push(base);
    return socket;
  }

  async function liveOnce(): Promise<void> {
    const socket = await connectOnce();
    const lost = new Promise<void>((resolve) => {
      socket.once('disconnect', (reason) => {
        if (!closed) losses.push({ at: Date.now(), reason });
        resolve();
      });
    });
    try {
      for (const chatNo of views.keys()) await catchUp(socket, chatNo);
      current = socket;
      const loss = losses.at(-1);
      if (loss) loss.back ??= Date.now();
      for (const resolve of waiting.splice(0)) resolve(socket);
      await lost;
    } finally {
      current = undefined;
      socket.disconnect();
    }
  }

  async function run(): Promise<void> {
    while (!closed) {
      try {
        await liveOnce();
      } catch {
        // Refused, or closed while it caught up.
        await sleep(RETRY_AFTER_MS);
      }
      if (drainMs > 0) await sleep(Math.random() * drainMs);
      drainMs = 0;
    }
  }
  void run();

  function connected(): Promise<Socket> {
    if (current) return Promise.resolve(current);
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  }

  return {
    who,
    losses,
    visited,
    list,
    socket: connected,

    async enter(chatNo) {
      const entered = { view: checker.view(`${name} in room ${chatNo}`, chatNo) };
      views.set(chatNo, entered);
      await eventually(async () => catchUp(await connected(), chatNo));
      return entered.view;
    },

    async send(chatNo, given) {
      sent += 1;
      const content = given ?? `${name}-${sent}`;
      checker.asked(chatNo, content);
      // The same for every attempt, also when this client has begun another send meanwhile.
      const clientId = `${name}-${sent}-${content}`.slice(0, 64);
      const until = Date.now() + RETRY_FOR_MS;
      for (;;) {
        const socket = await connected();
        const request = { chatNo, contentType: 'text', content, clientId };
        try {
          const answer: { status: number; message: Message } = await socket
            .timeout(TIMEOUT_MS)
            .emitWithAck('message:send', request);
          if (answer.status === 200) {
            checker.acked(content, answer.message);
            return answer.message;
          }
          expect(answer.status, JSON.stringify(answer)).to.equal(503);
        } catch (error) {
          if (closed || Date.now() > until) throw error;
        }
        await sleep(RETRY_AFTER_MS);
      }
    },

    close() {
      closed = true;
      waiting = [];
      current?.disconnect();
    },
  };
}
