import type { HistoryLine, OperationName } from '../../../scripts/prove/history.js';

import { articleOf, membersOf, withRests } from './whole-lines.js';

const ROOM = 5;

/** When everything was stored, by the service's clock. */
export const TOLD_AT = 10;

/** As the service writes it. */
const ROOM_URL = `/chat/${ROOM}?adoptId=1`;

/** Writes a short history line by line: one room of the members 1 and 2, and one article of member 1. */
export class ToldHistory {
  readonly room = ROOM;
  readonly lines: object[] = [
    {
      ...{ t: 0, e: 'header', format: 2, version: 'told', node: process.version, seed: 1 },
      ...{ options: { faults: 'none' }, startedAt: new Date(0).toISOString() },
      localOffsetMs: 0,
      members: membersOf([1, 2]),
      rooms: [{ room: ROOM, creator: 1, joiner: 2, saleNo: 1, saleTitle: 'Bori' }],
      articles: [articleOf(1)],
    },
  ];
  #op = 0;

  /** @returns the operation, for its outcome */
  ask(t: number, member: number, f: OperationName, asked: object = {}, door = 'rest'): number {
    this.#op += 1;
    const asker = { client: `m${member}.${door}`, member, process: 'process-0', door };
    this.lines.push({ t, e: 'invoke', op: this.#op, f, ...asker, ...asked });
    return this.#op;
  }

  end(t: number, op: number, outcome: object): void {
    this.lines.push({ t, op, ...outcome });
  }

  /** Asked and answered within a millisecond. */
  call(
    t: number,
    member: number,
    f: OperationName,
    asked: object = {},
    answer: object = {},
    door = 'rest',
  ): void {
    this.end(t + 1, this.ask(t, member, f, asked, door), { e: 'ok', f, ...answer });
  }

  /** A message of this content, by REST. */
  send(t: number, member: number, content: string): void {
    const answer = { id: `id of ${content}`, readCount: 1, at: TOLD_AT };
    this.call(t, member, 'send', { room: ROOM, key: content, content }, answer);
  }

  deliver(t: number, member: number, door: 'socket' | 'stream', event: object): void {
    const by = { client: `m${member}.${door}`, member, process: 'process-0', door };
    this.lines.push({ t, e: 'delivery', ...by, ...event });
  }

  phase(t: number, phase: string): void {
    this.lines.push({ t, e: 'phase', phase });
  }

  closed(t: number, member: number, door: string, reason: string): void {
    this.lines.push({ t, e: 'closed', client: `m${member}.${door}`, door, reason });
  }

  async *text(): AsyncGenerator<string> {
    const inOrder = (this.lines as HistoryLine[]).toSorted((a, b) => a.t - b.t);
    for (const line of withRests(inOrder)) yield JSON.stringify(line);
  }
}

/** A chat notification of a message with this content. */
export const chatNotification = (id: number, content: string) => ({
  ...{ id, type: 'chat', content, url: ROOM_URL, checked: false, name: 'member 1', at: 0 },
});
