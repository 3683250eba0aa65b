import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import type { Account } from '../../run-accounts/accounts.js';
import type { HistoryFile } from '../history-file.js';
import type { Manner } from '../intrusions.js';
import type { Served } from '../served.js';
import { type Outgoing, SocketDoor, type Transport } from './socket-door.js';

/** Longest pause before a lost connection is made again, ms. */
const RECONNECT_MS = 400;

/** Longest time for which a message is sent again, ms. */
const RETRY_FOR_MS = 30_000;

/** Longest pause before a message is sent again, ms. */
const RETRY_MS = 300;

/** A room that the app has open, or had. */
interface OpenRoom {
  isWanted: boolean;
  /** Number of the last message of those that the app has without a gap. */
  last: number;
  /** Whether live messages follow what it has. */
  isLive: boolean;
}

export interface ChatAppOptions {
  history: HistoryFile;
  account: Account;
  client: string;
  gateways: Served[];
  /** Connects by the way on which packets may get lost. */
  isDetoured: boolean;
  /** How it connects, unless by WebSocket. */
  transport?: Transport | undefined;
  below: (limit: number) => number;
  onMessage: (payload: MessagePayload) => void;
  /** It is connected, and in its rooms again. */
  onConnected: () => void;
}

/**
 * The sockets of a client as an app should use them: it reconnects by itself, to any gateway, catches up from its last
 * message number, and sends what was not acknowledged again under the same key.
 */
export class ChatApp {
  readonly #options: ChatAppOptions;
  readonly #rooms = new Map<number, OpenRoom>();
  #door: SocketDoor | undefined;
  #waiting: (() => void)[] = [];
  #pauseMs = 0;
  #isClosed = false;
  /** Whether it stays away once its connection has ended. */
  #isLast = false;
  readonly #run: Promise<void>;

  constructor(options: ChatAppOptions) {
    this.#options = options;
    this.#run = this.#live();
  }

  /** Numbers of the rooms that it has open. */
  get rooms(): number[] {
    return [...this.#rooms].flatMap(([room, { isWanted }]) => (isWanted ? [room] : []));
  }

  /** Number of the last message that it has. */
  lastOf(room: number): number {
    return this.#rooms.get(room)?.last ?? 0;
  }

  /** The open connection. */
  get door(): SocketDoor | undefined {
    return this.#door?.connected ? this.#door : undefined;
  }

  /** Opens a room, now and after each reconnect. */
  async enter(room: number): Promise<void> {
    const open = this.#rooms.get(room) ?? { isWanted: true, last: 0, isLive: false };
    open.isWanted = true;
    this.#rooms.set(room, open);
    const { door } = this;
    if (door) await this.#catchUp(door, room, open);
  }

  async leave(room: number): Promise<void> {
    const open = this.#rooms.get(room);
    if (!open?.isWanted) return;
    this.forget(room);
    await this.door?.leave(room);
  }

  /** The member was taken out of the room by another client of theirs. */
  forget(room: number): void {
    const open = this.#rooms.get(room);
    if (open) Object.assign(open, { isWanted: false, isLive: false });
  }

  /** Leaves a room, and loses all that it knows of it: it is read from its first message on when it is opened again. */
  async forgetAll(room: number): Promise<void> {
    await this.leave(room);
    this.#rooms.delete(room);
  }

  /** Sends until it is acknowledged or refused. @returns whether it is stored */
  async send(message: Outgoing): Promise<boolean> {
    const until = performance.now() + RETRY_FOR_MS;
    while (performance.now() < until && !this.#isClosed) {
      const door = await this.#connected(until);
      if (!door) return false;
      const { ok, refused } = { refused: undefined, ...(await door.send(message)) };
      if (ok) return true;
      if (refused !== undefined && refused !== 429 && refused !== 503) return false;
      await sleep(this.#options.below(RETRY_MS));
    }
    return false;
  }

  /** Tries to connect without the member's token, to any gateway. */
  connectAs(manner: Manner): Promise<void> {
    const { history, account, client, gateways, below } = this.#options;
    return SocketDoor.intrude(history, account, client, gateways[below(gateways.length)] as Served, manner);
  }

  /** Ends the connection; the app comes back after this time, ms. */
  drop(pauseMs: number): void {
    this.#pauseMs = pauseMs;
    this.#door?.close();
  }

  /** Stays away once its connection has ended. */
  stayAway(): void {
    this.#isLast = true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#door?.close();
    for (const resolve of this.#waiting.splice(0)) resolve();
    await this.#run;
  }

  async #connected(until: number): Promise<SocketDoor | undefined> {
    while (!this.door && !this.#isClosed && performance.now() < until) {
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), sleep(1_000)]);
    }
    return this.door;
  }

  async #live(): Promise<void> {
    const { below } = this.#options;
    while (!this.#isClosed && !this.#isLast) {
      await this.#connectOnce();
      const pauseMs = this.#pauseMs + below(RECONNECT_MS);
      this.#pauseMs = 0;
      if (!this.#isClosed && !this.#isLast) await sleep(pauseMs);
    }
  }

  /** Resolves when the connection has ended. */
  async #connectOnce(): Promise<void> {
    const { history, account, client, gateways, isDetoured, transport, below, onMessage, onConnected } =
      this.#options;
    const served = gateways[below(gateways.length)] as Served;
    let end = () => {};
    const closed = new Promise<void>((resolve) => {
      end = resolve;
    });
    const events = {
      closed: end,
      drain: (retryAfterMs: number) => {
        this.#pauseMs = below(Math.max(1, retryAfterMs));
      },
      message: (payload: MessagePayload) => {
        const room = this.#rooms.get(payload.chatNo);
        if (room?.isLive) room.last = Math.max(room.last, payload.seq);
        onMessage(payload);
      },
    };
    const door = await SocketDoor.open(history, account, client, served, events, {
      detour: isDetoured,
      transport,
    });
    if (!door) return;
    for (const [room, open] of this.#rooms) {
      open.isLive = false;
      if (open.isWanted && door.connected && !this.#isClosed) await this.#catchUp(door, room, open);
    }
    // `close` does not know a connection that is still catching up.
    if (this.#isClosed) door.close();
    if (door.connected) {
      this.#door = door;
      for (const resolve of this.#waiting.splice(0)) resolve();
      onConnected();
    }
    await closed;
    this.#door = undefined;
  }

  /** Reads what it misses. An unknown outcome ends the connection: the next one begins anew. */
  async #catchUp(door: SocketDoor, room: number, open: OpenRoom): Promise<void> {
    for (;;) {
      const { ok, refused } = {
        refused: undefined,
        ...(await door.join(room, open.last, (last, more) => {
          open.last = Math.max(open.last, last ?? 0);
          open.isLive = !more;
        })),
      };
      if (ok?.more && open.isWanted) continue;
      if (!ok && refused === undefined) door.close();
      return;
    }
  }
}
