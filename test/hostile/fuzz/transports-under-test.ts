import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { sleep } from '../../support/eventually.js';
import { type RawConnection, rawConnection, rawGet, rawRequest } from '../../support/raw-connection.js';
import { clientFrame } from '../../support/raw-socket.js';

/**
 * How many requests of others are answered before something that is due is missed, and the pause after each, ms. On a
 * busy machine both take longer; what comes only after a limit of 10 s or more is missed.
 */
const ROUNDS = 200;
const PAUSE_MS = 15;

/** States of a TCP connection whose server has it open: established, and closed by the client alone. (proc_net_tcp) */
const OPEN_STATES = new Set(['01', '08']);

/** A TCP connection, and what it waits for. */
interface Wire {
  connection: RawConnection;
  /** Requests that it owes an answer to. */
  asked: number;
  /** Its framing is contradictory: where a request ends is not known. */
  isUnclear: boolean;
  /** It asked for a WebSocket: what follows are frames. */
  isUpgrade: boolean;
  /** The rest of a request. */
  rest: Buffer | undefined;
  /** Its client has ended it: no answer is owed any more. */
  hasLeft: boolean;
}

/** A request to write. */
export interface Request {
  method: string;
  query: string;
  headers: string[];
  body: string;
  isUpgrade: boolean;
  isUnclear: boolean;
}

const statusesOf = ({ connection }: Wire): number[] =>
  [...connection.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/**
 * Each whole request is answered, or its connection is closed. What follows a WebSocket's handshake is no request: ws reads
 * it as frames, and uWebSockets.js drops what arrives with the handshake.
 */
function isSettled(wire: Wire): boolean {
  const statuses = statusesOf(wire);
  const isAnswered = statuses.length >= wire.asked || statuses.includes(101);
  return wire.isUnclear || wire.hasLeft || wire.connection.isEnded || isAnswered;
}

/** 505 is uWebSockets.js's own answer to what does not begin like a request: frames whose handshake was refused. */
const isExpected = (status: number): boolean => status < 500 || status === 505;

function bytesOf({ method, query, headers, body, isUpgrade }: Request, source: string): Buffer {
  const upgrade = [
    ...['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  return Buffer.from(
    [
      `${method} /socket.io/?${query} HTTP/1.1`,
      'Host: x',
      `X-Forwarded-For: ${source}`,
      ...(isUpgrade ? upgrade : []),
      ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
}

/** Connections to a gateway, and its sessions, as one client after the other misuses them. */
export class Transports {
  readonly #wires: Wire[] = [];
  /** Ids, in the order of their handshakes. */
  readonly #sessions: string[] = [];
  readonly #base: string;
  readonly #source: string;
  readonly token: string;

  /** @param source the address of its clients, told by X-Forwarded-For */
  constructor(base: string, source: string, token: string) {
    this.#base = base;
    this.#source = source;
    this.token = token;
  }

  /** The id of a session. @param index of any size */
  session(index: number): string {
    return this.#sessions[index % this.#sessions.length] ?? 'none';
  }

  #open(): Wire {
    const wire = { asked: 0, isUnclear: false, isUpgrade: false, rest: undefined, hasLeft: false };
    const opened = { ...wire, connection: rawConnection(this.#base) };
    this.#wires.push(opened);
    return opened;
  }

  /** A connection that takes a request now: one of those that are open, or, for each third index, a new one. */
  #free(index: number): Wire {
    const free = this.#wires.filter(
      (wire) => !(wire.connection.isEnded || wire.hasLeft || wire.isUpgrade || wire.rest),
    );
    return (index % 3 > 0 && free[index % free.length]) || this.#open();
  }

  /** Opens a session, and knows its id once this resolves. */
  async handshake(request: Request): Promise<void> {
    const wire = this.#open();
    wire.asked = 1;
    wire.isUpgrade = request.isUpgrade;
    wire.connection.socket.write(bytesOf(request, this.#source));
    const { until, ended } = wire.connection;
    // A WebSocket has it in its first frame.
    await Promise.race([ended, until(/"upgrades"|HTTP\/1\.1 [45]/)]);
    const sid = /"sid":"([^"]+)"/.exec(wire.connection.text)?.[1];
    if (sid) this.#sessions.push(sid);
  }

  /** Writes requests at once. @param cut bytes that are held back, for `complete` */
  ask(index: number, requests: Request[], cut = 0): void {
    const wire = this.#free(index);
    const bytes = Buffer.concat(requests.map((request) => bytesOf(request, this.#source)));
    wire.asked += requests.length;
    wire.isUnclear ||= requests.some(({ isUnclear }) => isUnclear);
    wire.isUpgrade ||= requests.some(({ isUpgrade }) => isUpgrade);
    const kept = bytes.length - Math.min(cut, bytes.length - 1);
    wire.connection.socket.write(bytes.subarray(0, kept));
    if (cut === 0) return;
    wire.rest = bytes.subarray(kept);
    wire.asked -= 1;
  }

  /** Sends the rest of a half request, if there is one. */
  complete(index: number): void {
    const halves = this.#wires.filter(
      ({ rest, hasLeft, connection }) => rest && !hasLeft && !connection.isEnded,
    );
    const wire = halves[index % halves.length];
    if (!wire?.rest) return;
    wire.connection.socket.write(wire.rest);
    wire.rest = undefined;
    wire.asked += 1;
  }

  /** Writes to a WebSocket, if there is one whose handshake is complete: within one, frames would be an unclear head. */
  frame(index: number, bytes: Buffer): void {
    const sockets = this.#wires.filter(
      ({ isUpgrade, rest, hasLeft, connection }) => isUpgrade && !rest && !hasLeft && !connection.isEnded,
    );
    sockets[index % sockets.length]?.connection.socket.write(bytes);
  }

  /** Ends a connection. Not by `resetAndDestroy`, which never closes a socket whose end is under way (Node 20). */
  end(index: number, how: 'end' | 'destroy'): void {
    const open = this.#wires.filter(({ hasLeft, connection }) => !hasLeft && !connection.isEnded);
    const wire = open[index % open.length];
    if (!wire) return;
    wire.connection.socket[how]();
    wire.hasLeft = true;
  }

  /** Resolves when the gateway has read all that was written: it has answered a later request. */
  async turn(): Promise<void> {
    await rawRequest(this.#base, rawGet('/healthz', '', 'Connection: close'), /\r\n\r\n.+/s);
  }

  async #within(what: string, check: () => boolean): Promise<void> {
    for (let round = 0; !check(); round += 1) {
      if (round === ROUNDS) throw new Error(`after ${ROUNDS} requests of others, ${what}`);
      await this.turn();
      await sleep(PAUSE_MS);
    }
  }

  /** Ends all sessions; then nothing may be unanswered. */
  async finish(): Promise<void> {
    await this.turn();
    for (const wire of this.#wires) {
      if (wire.isUpgrade && !wire.hasLeft) wire.connection.socket.write(clientFrame(Buffer.from('1')));
    }
    const [method, body] = ['POST', '1'];
    for (const sid of this.#sessions) {
      const query = `EIO=4&transport=polling&sid=${sid}`;
      const wire = this.#open();
      wire.asked = 1;
      const request = { method, query, body, headers: [], isUpgrade: false, isUnclear: false };
      wire.connection.socket.write(bytesOf(request, this.#source));
    }
    const waiting = () => this.#wires.filter((wire) => !isSettled(wire));
    const unanswered = `a request is not answered, and its connection is not closed`;
    await this.#within(unanswered, () => waiting().length === 0);
    for (const status of this.#wires.flatMap(statusesOf)) expect(status).to.satisfy(isExpected);
  }

  destroy(): void {
    for (const { connection } of this.#wires) connection.socket.destroy();
  }

  /** Rejects unless the gateway has closed its side of all connections. */
  async expectNoneHeld(): Promise<void> {
    const ends = this.#wires.map(({ connection }) => connection.ended);
    await Promise.all(ends);
    const port = Number(new URL(this.#base).port).toString(16).toUpperCase().padStart(4, '0');
    const held = () =>
      readFileSync('/proc/net/tcp', 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, local, , state]) => local?.endsWith(`:${port}`) && OPEN_STATES.has(state ?? ''));
    await this.#within('connections are held whose clients have gone', () => held().length === 0);
  }
}
