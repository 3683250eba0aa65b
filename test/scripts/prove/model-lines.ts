import type { HistoryLine } from '../../../scripts/prove/history.js';

type Body = Record<string, unknown> & { f: string };

/** One client: its lines come one after another. */
export interface Client {
  name: string;
  member: number;
  process: string;
  /** When it may ask again. */
  freeAt: number;
  /** Of the last line that it received. */
  lastAt: number;
  isOpen: boolean;
  /** Of a stream: the last n. */
  n?: number;
  /** Of a socket: the last number shown of each room. */
  cursors: Map<number, number>;
}

/** Writes the lines of clients. */
export class ModelLines {
  readonly lines: HistoryLine[] = [];
  readonly below: (limit: number) => number;
  t = 1_000;
  #op = 0;

  constructor(below: (limit: number) => number) {
    this.below = below;
  }

  write(line: object, t: number): void {
    this.lines.push({ ...line, t: Math.round(t * 1_000) / 1_000 } as HistoryLine);
  }

  /** What a client receives, after everything it received before. */
  receive(client: Client, line: object, delay = this.below(30)): void {
    client.lastAt = Math.max(client.lastAt + 0.01, this.t + delay);
    this.write(line, client.lastAt);
  }

  deliver(client: Client, body: object): void {
    const { name, member, process } = client;
    this.receive(client, { e: 'delivery', client: name, member, process, ...body });
  }

  /**
   * Asks and answers; what `act` does and returns happens in between: an answer, a refusal with its code, or undefined: the
   * outcome stays unknown.
   */
  call(client: Client, door: string, body: Body, act: () => object | undefined): boolean {
    const { name, member, process } = client;
    this.#op += 1;
    const op = this.#op;
    // A client asks again once it is answered.
    this.t = Math.max(this.t, client.freeAt + 0.02);
    const askedAt = Math.max(client.freeAt + 0.01, this.t - this.below(20));
    this.write({ e: 'invoke', op, client: name, member, process, door, ...body }, askedAt);
    const answer = act();
    if (answer && 'code' in answer) this.receive(client, { e: 'fail', op, status: 409, ...answer });
    else if (answer) this.receive(client, { e: 'ok', op, f: body.f, ...answer });
    else this.receive(client, { e: 'info', op, reason: 'time-out' });
    client.freeAt = client.lastAt;
    return answer !== undefined;
  }
}
