import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import type { Account } from '../../run-accounts/accounts.js';
import type { Community } from '../community.js';
import type { SeenComment } from '../history.js';
import type { HistoryFile } from '../history-file.js';
import type { Served } from '../served.js';
import { ChatApp } from './chat-app.js';
import { RestDoor } from './rest-door.js';
import { type Outgoing, SocketDoor, type Transport } from './socket-door.js';
import { StreamDoor } from './stream-door.js';

/** How a client uses the service: by sockets, by REST alone, or as the legacy app does. */
export type Kind = 'socket' | 'rest' | 'legacy';

export interface DeviceOptions {
  client: string;
  kind: Kind;
  hasStream: boolean;
  isDetoured: boolean;
  transport?: Transport | undefined;
  /** How further tabs may connect, beside WebSocket. */
  tabTransports?: readonly Transport[];
  account: Account;
  history: HistoryFile;
  community: Community;
  servers: Served[];
  /** All clients of the run, this one included. */
  others: readonly Device[];
  /** Random integers from 0 to below the limit: what the client does. */
  choose: (limit: number) => number;
  /** The same for its processes, and for pauses before it tries again: a lost answer does not change what it does next. */
  below: (limit: number) => number;
}

/** Longest time for which a push is sent again, ms. */
const RETRY_FOR_MS = 30_000;

/** Longest pause before a push is sent again, ms. */
const RETRY_MS = 300;

/** Sent messages that a client remembers, to send one of them again. */
const REMEMBERED = 20;

/** One of so many messages is an image. */
const IMAGES = 12;

/** One client of a member, with everything that it knows. */
export class Device {
  readonly client: string;
  readonly kind: Kind;
  readonly account: Account;
  readonly community: Community;
  readonly others: readonly Device[];
  readonly rest: RestDoor;
  readonly stream: StreamDoor | undefined;
  readonly app: ChatApp | undefined;
  readonly choose: (limit: number) => number;
  /** The member's rooms, with the sale's number. */
  readonly rooms: { room: number; saleNo: number }[];
  readonly articles: number[];
  /** The room that gets more messages than an answer holds, if it is the member's. */
  readonly longRoom: number | undefined;
  /** Numbers of the articles that it has published, and not deleted. */
  published: number[] = [];
  /** Comments that it has seen, with their article. */
  comments: (SeenComment & { article: number })[] = [];
  /** Numbers of notifications that it has seen. */
  notifications: number[] = [];
  /** Broadcasts that it has received and may post back. */
  received: MessagePayload[] = [];
  readonly sent: { message: Outgoing; sendTime: number }[] = [];
  readonly #history: HistoryFile;
  readonly #gateways: Served[];
  readonly #tabTransports: readonly Transport[];
  readonly #below: (limit: number) => number;
  #count = 0;
  #isClosed = false;

  constructor(options: DeviceOptions) {
    const { client, kind, account, history, community, servers, choose, below } = options;
    const processes = servers.filter(({ door }) => door === 'http');
    const gateways = servers.filter(({ door }) => door === 'gateway');
    const address = () => processes[below(processes.length)] as Served;
    this.client = client;
    this.kind = kind;
    this.account = account;
    this.community = community;
    this.others = options.others;
    this.choose = choose;
    this.#below = below;
    this.#history = history;
    this.rooms = community.rooms.filter(({ author, asker }) => author === account || asker === account);
    // One of the first member, who has a socket: only by that it is filled.
    const [first] = community.members;
    const long = community.rooms.find(({ author, asker }) => author === first || asker === first);
    this.longRoom = this.rooms.find(({ room }) => room === long?.room)?.room;
    this.#gateways = gateways;
    this.#tabTransports = options.tabTransports ?? [];
    this.articles = community.articles.map(({ article }) => article);
    this.rest = new RestDoor(history, account, client, address);
    if (options.hasStream) this.stream = new StreamDoor(history, account, client, address, below);
    if (kind !== 'rest') {
      const { isDetoured, transport } = options;
      const onMessage = (payload: MessagePayload) => {
        if (kind === 'legacy') this.received = [...this.received.slice(-4), payload];
      };
      // What changed while it was away it reads once; `room` events tell the rest.
      const onConnected = () => {
        if (kind === 'socket') void this.rest.rooms();
      };
      const app = {
        history,
        account,
        client,
        gateways,
        isDetoured,
        transport,
        below,
        onMessage,
        onConnected,
      };
      this.app = new ChatApp(app);
    }
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.choose(Math.max(1, list.length))];
  }

  /** A text that no other message or comment of the run has. */
  text(): string {
    this.#count += 1;
    return `${this.client} ${this.#count}`;
  }

  /** Waits for the next moment at which others begin to send, too, so that their messages meet. */
  async meet(everyMs: number): Promise<void> {
    await sleep(everyMs - (this.#history.now() % everyMs));
  }

  /** Writes a new message; each so many is an image. */
  newMessage(room: number): Outgoing {
    const text = this.text();
    const key = text.replaceAll(' ', '-');
    return this.#count % IMAGES === 0
      ? { room, key, content: `/${key}.jpg`, type: 'image' }
      : { room, key, content: text };
  }

  /** Sends a message until it is acknowledged or refused. @param sendTime epoch ms, the same for each attempt */
  async send(message: Outgoing, sendTime = Date.now()): Promise<void> {
    const isStored =
      this.kind === 'socket' && this.app ? await this.app.send(message) : await this.#push(message, sendTime);
    if (!isStored) return;
    this.sent.push({ message, sendTime });
    if (this.sent.length > REMEMBERED) this.sent.shift();
  }

  async #push(message: Outgoing, sendTime: number): Promise<boolean> {
    const { saleNo = 0 } = this.rooms.find(({ room }) => room === message.room) ?? {};
    const until = performance.now() + RETRY_FOR_MS;
    while (performance.now() < until && !this.#isClosed) {
      const isTokenless = this.kind === 'legacy';
      const asked = await this.rest.push({ ...message, saleNo }, sendTime, isTokenless);
      if (asked.ok) return true;
      // The service has forgotten this client, as when Redis was restarted: a call with the token reminds it.
      if (asked.refused === 401) await this.rest.rooms();
      else if (asked.refused !== undefined && asked.refused !== 429 && asked.refused !== 503) return false;
      await sleep(this.#below(RETRY_MS));
    }
    return false;
  }

  /** Opens another socket, which the caller closes, by another gateway than the app's where there is one. */
  openTab(): Promise<SocketDoor | undefined> {
    const others = this.#gateways.filter(({ name }) => name !== this.app?.door?.process);
    const gateway = this.pick(others) ?? this.#gateways[0];
    if (!gateway) return Promise.resolve(undefined);
    const events = { message() {}, drain() {}, closed() {} };
    const transport = this.pick([undefined, undefined, ...this.#tabTransports]);
    return SocketDoor.open(this.#history, this.account, `${this.client}.tab`, gateway, events, { transport });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.app?.close(), this.stream?.close()]);
  }
}
