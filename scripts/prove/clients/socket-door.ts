import { io, type Socket } from 'socket.io-client';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import type { Account } from '../../run-accounts/accounts.js';
import { reasonOf, refusalOf } from '../../run-accounts/rest.js';
import { events as delivered } from '../answers/index.js';
import type { OperationName, Operations } from '../history.js';
import type { Asker, HistoryFile } from '../history-file.js';
import type { Intrusion, Manner } from '../intrusions.js';
import type { Served } from '../served.js';
import { tokenFor } from './identity.js';
import type { Asked } from './rest-door.js';

/** Longest time for an acknowledgement, ms. */
const TIMEOUT_MS = 5_000;

const OPTIONS = { transports: ['websocket'], forceNew: true, reconnection: false, timeout: TIMEOUT_MS };

/** How a connection begins, unless by WebSocket: it stays with long-polling, or goes on by WebSocket. */
export type Transport = 'polling' | 'upgraded';

const TRANSPORTS = { polling: ['polling'], upgraded: ['polling', 'websocket'] };

type SocketAsker = Asker & { door: 'socket' };

interface Ack {
  status: number;
  message?: unknown;
  errors?: string[];
  retryAfterMs?: number;
}

/** A message that a client has sent or is to send. `type`: unless text. */
export interface Outgoing {
  room: number;
  key: string;
  content: string;
  type?: 'image' | undefined;
}

export interface SocketEvents {
  message(payload: MessagePayload): void;
  /** The service asks to come back within this time, ms. */
  drain(retryAfterMs: number): void;
  closed(): void;
}

/** One connection of a client, recorded: what is asked, what is answered, and everything that is delivered. */
export class SocketDoor {
  readonly #history: HistoryFile;
  readonly #asker: SocketAsker;
  readonly #socket: Socket;

  readonly #token: string;

  private constructor(history: HistoryFile, asker: SocketAsker, socket: Socket, token: string) {
    this.#token = token;
    this.#history = history;
    this.#asker = asker;
    this.#socket = socket;
  }

  /**
   * @param detour connects by the way on which packets may get lost @param transport unless by WebSocket
   * @returns undefined if it is not connected
   */
  static open(
    history: HistoryFile,
    account: Account,
    client: string,
    served: Served,
    events: SocketEvents,
    { detour = false, transport }: { detour?: boolean; transport?: Transport | undefined } = {},
  ): Promise<SocketDoor | undefined> {
    const socket = io((detour ? served.detour : undefined) ?? served.base, {
      ...OPTIONS,
      ...(transport ? { transports: TRANSPORTS[transport] } : {}),
      auth: { token: account.token },
    });
    const asker: SocketAsker = { client, member: account.no, process: served.name, door: 'socket' };
    const pending = history.begin(asker, 'connect', transport ? { transport } : {});
    const door = new SocketDoor(history, asker, socket, account.token);
    return new Promise((resolve) => {
      const giveUp = (reason: string) => {
        pending.info(reason);
        socket.disconnect();
        resolve(undefined);
      };
      const timer = setTimeout(() => giveUp('timeout'), TIMEOUT_MS);
      socket.once('connect_error', (error: Error & { data?: Ack & { message: string } }) => {
        clearTimeout(timer);
        if (error.data?.status) {
          const { status, code } = refusalOf(error.data, error.data.status);
          pending.fail(status, code);
        }
        giveUp(reasonOf(error));
      });
      socket.once('connect', () => {
        clearTimeout(timer);
        pending.ok({});
        socket.once('disconnect', (reason) => {
          history.write({ e: 'closed', client, door: 'socket', reason });
          events.closed();
        });
        door.#listen(events);
        resolve(door);
      });
    });
  }

  /** Tries to connect without the member's token. */
  static intrude(
    history: HistoryFile,
    account: Account,
    client: string,
    { name, base }: Served,
    manner: Manner,
  ): Promise<void> {
    const asker: SocketAsker = { client, member: account.no, process: name, door: 'socket' };
    const pending = history.begin(asker, 'intrude', { call: 'connect', manner, on: 0 });
    const token = tokenFor(account, manner);
    const socket = io(base, { ...OPTIONS, auth: token === undefined ? {} : { token } });
    return new Promise((resolve) => {
      const end = (note: () => void) => {
        clearTimeout(timer);
        note();
        socket.disconnect();
        resolve();
      };
      const timer = setTimeout(() => end(() => pending.info('timeout')), TIMEOUT_MS);
      socket.once('connect', () => end(() => pending.ok({})));
      socket.once('connect_error', (error: Error & { data?: Ack }) => {
        const refusal = error.data?.status ? refusalOf(error.data as object, error.data.status) : undefined;
        end(() =>
          refusal?.isCertain ? pending.fail(refusal.status, refusal.code) : pending.info(reasonOf(error)),
        );
      });
    });
  }

  get connected(): boolean {
    return this.#socket.connected;
  }

  /** The gateway's name. */
  get process(): string {
    return this.#asker.process;
  }

  close(): void {
    this.#socket.disconnect();
  }

  /** Stops or goes on to read what arrives. */
  pause(isPaused: boolean): void {
    const { transport } = this.#socket.io.engine as unknown as {
      transport?: { ws?: { pause(): void; resume(): void; readyState: number } };
    };
    const ws = transport?.ws;
    // 1: open.
    if (ws?.readyState !== 1) return;
    if (isPaused) ws.pause();
    else ws.resume();
  }

  /** @param enter called with the answer before any event that follows it */
  join(
    room: number,
    after: number,
    enter: (last: number | undefined, more: boolean) => void,
  ): Promise<Asked<'join'>> {
    const body = { chatNo: room, after };
    return this.#ask('join', { room, after }, 'room:join', body, ({ messages, more }) =>
      enter(messages.at(-1)?.seq, more),
    );
  }

  leave(room: number): Promise<Asked<'leave'>> {
    return this.#ask('leave', { room }, 'room:leave', { chatNo: room });
  }

  read(room: number, seq: number): Promise<Asked<'read'>> {
    return this.#ask('read', { room, seq }, 'message:read', { chatNo: room, seq });
  }

  send({ room, key, content, type }: Outgoing): Promise<Asked<'send'>> {
    const body = { chatNo: room, contentType: type ?? 'text', content, clientId: key };
    return this.#ask('send', { room, key, content, ...(type ? { type } : {}) }, 'message:send', body);
  }

  /** Sends the token again, as before it expires. */
  refresh(): Promise<Asked<'refresh'>> {
    const [, claims = ''] = this.#token.split('.');
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp: number };
    return this.#ask('refresh', { expiresAt: exp * 1_000 }, 'auth:refresh', { token: this.#token });
  }

  /** Tries what is not the member's to do. */
  intrude(call: Intrusion, manner: Manner, room: number, fields: object): Promise<Asked<'intrude'>> {
    return this.#ask('intrude', { call, manner, on: room }, call, { chatNo: room, ...fields });
  }

  /** May get lost. */
  typing(room: number, typing: boolean): void {
    this.#history.begin(this.#asker, 'typing', { room, typing }).ok({});
    this.#socket.volatile.emit('typing', { chatNo: room, typing });
  }

  /** Records in the callback of the answer: an event in the same chunk follows it at once. */
  #ask<F extends OperationName>(
    f: F,
    asked: Operations[F]['asked'],
    event: string,
    body: object,
    onAnswer: (answered: Operations[F]['answered']) => void = () => {},
  ): Promise<Asked<F>> {
    const pending = this.#history.begin(this.#asker, f, asked);
    return new Promise((resolve) => {
      this.#socket.timeout(TIMEOUT_MS).emit(event, body, (error: Error | null, ack: Ack) => {
        if (error) {
          pending.info(error.message);
          resolve({});
        } else if (ack.status === 200) {
          const ok = pending.ok(ack);
          onAnswer(ok);
          resolve({ ok });
        } else {
          const refusal = refusalOf(ack as object, ack.status);
          if (refusal.isCertain) pending.fail(refusal.status, refusal.code);
          else pending.info(`${refusal.status} ${refusal.code}`);
          resolve(refusal.isCertain ? { refused: refusal.status } : {});
        }
      });
    });
  }

  #listen(events: SocketEvents): void {
    for (const event of Object.keys(delivered.socket) as (keyof typeof delivered.socket)[]) {
      this.#socket.on(event, (payload: unknown) => {
        this.#history.deliver(this.#asker, event, payload);
        if (event === 'message') events.message(payload as MessagePayload);
      });
    }
    this.#socket.on('drain', ({ retryAfterMs }: { retryAfterMs: number }) => events.drain(retryAfterMs));
  }
}
