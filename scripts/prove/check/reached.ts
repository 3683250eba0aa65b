import { faultKinds, losingKeys } from '../faults/kinds.js';
import type { Closed, Counts, Delivery, Fault, Header, Invoke, Ok } from '../history.js';
import { tries } from '../intrusions.js';
import type { CountedName, Demand } from './facts/coverage.js';
import { documentedAnswer, documentedEvent } from './facts/documented.js';
import type { Run } from './facts/run.js';
import { canHurtRequest, isAtTarget } from './victims.js';

/** Metrics in which the service itself counts rare paths. */
const METRICS: [metric: RegExp, counted: CountedName][] = [
  [/^adoption_chat_conflicts_total/, 'conflicts'],
  [/^adoption_chat_gaps_filled_total/, 'filledGaps'],
  [/^adoption_event_stream_notifications_total.*source="?gap/, 'filledGaps'],
];

/** Follows what a history reaches, and tells what it should have reached. */
export class Reached {
  readonly #run: Run;
  #options: Record<string, unknown> = {};
  /** Faults and requests under way. */
  #faults: Fault[] = [];
  readonly #requests = new Map<number, Invoke>();
  /** Where the connections of clients end, by client and door. */
  readonly #processes = new Map<string, string>();
  /** Members that have read a room whole, by room. */
  readonly #readers = new Map<number, Set<number>>();

  constructor(run: Run) {
    this.#run = run;
  }

  header({ options }: Header): void {
    this.#options = options;
  }

  fault(fault: Fault): void {
    if (fault.phase === 'end') {
      const isIt = (one: Fault) => one.fault === fault.fault && one.target === fault.target;
      this.#faults = this.#faults.filter((one) => !isIt(one));
      return;
    }
    this.#faults.push(fault);
    const { faults } = this.#run.coverage;
    faults.set(fault.fault, faults.get(fault.fault) ?? 0);
    for (const asked of this.#requests.values()) this.#meet(fault, asked);
  }

  #meet(fault: Fault, asked: Invoke): void {
    const { coverage, views } = this.#run;
    if (canHurtRequest(fault, asked, views)) coverage.meet(fault.fault);
  }

  counts({ counts }: Counts): void {
    for (const [name, count] of Object.entries(counts)) {
      for (const [metric, what] of METRICS) if (metric.test(name)) this.#run.coverage.add(what, count);
    }
  }

  asked(asked: Invoke): void {
    this.#requests.set(asked.op, asked);
    for (const fault of this.#faults) this.#meet(fault, asked);
  }

  settled({ op }: Invoke): void {
    this.#requests.delete(op);
  }

  answered(ok: Ok, asked: Invoke): void {
    for (const name of documentedAnswer(ok.f, asked.door)) this.#run.reach(name);
    if (ok.f === 'connect' || ok.f === 'stream')
      this.#processes.set(`${asked.client} ${asked.door}`, asked.process);
    if (ok.f === 'join' && asked.f === 'join' && this.#run.phase === 'final' && !ok.more) {
      const readers = this.#readers.get(asked.room) ?? new Set();
      this.#readers.set(asked.room, readers.add(asked.member));
    }
    this.settled(asked);
  }

  #meetAt(at: Pick<Delivery, 'client' | 'process'>): void {
    for (const fault of this.#faults) if (isAtTarget(fault, at)) this.#run.coverage.meet(fault.fault);
  }

  closed({ client, door }: Closed): void {
    const process = this.#processes.get(`${client} ${door}`);
    if (process !== undefined) this.#meetAt({ client, process });
  }

  delivered(delivery: Delivery): void {
    this.#meetAt(delivery);
    for (const name of documentedEvent(delivery)) this.#run.reach(name);
  }

  /** Counts what only all lines so far show. */
  count(): void {
    const { counts } = this.#run.coverage;
    const messages = [...this.#run.messages.all()];
    counts.lostAcknowledgements = messages.filter(
      ({ uncertain, id }) => uncertain && id !== undefined,
    ).length;
    counts.roomsReadWhole = [...this.#readers.values()].filter(({ size }) => size === 2).length;
  }

  /** What clients can still reach by what they do. */
  lacking(): CountedName[] {
    return this.#asked.length === 0 ? this.#below('clients', 'calm') : this.#below('clients');
  }

  /** Kinds of faults that the run has. */
  get #asked(): string[] {
    const wanted = this.#options.faults ?? 'none';
    const asked = Array.isArray(wanted) ? wanted.map(String) : String(wanted).split(',');
    return asked.filter((kind) => kind !== 'none');
  }

  /** Unreached demands of these kinds, of those that this run must meet. */
  #below(...kinds: Demand['by'][]): CountedName[] {
    const isOwn = !this.#run.isShared;
    const places = { own: isOwn, gateways: isOwn && Number(this.#options.gateways) > 1 };
    return this.#run.coverage.below(
      ({ by, where }) => kinds.includes(by) && (where === undefined || places[where]),
    );
  }

  /** What the options of the run let expect and it did not reach, a line each. After `count`. */
  missing(): string[] {
    const { coverage, disturbances } = this.#run;
    const { faults } = coverage;
    const asked = this.#asked;
    const isAll = asked.includes('all') || faultKinds.every((kind) => asked.includes(kind));
    const isLosing = asked.length > 0 && asked.every((kind) => (losingKeys as string[]).includes(kind));
    const isKilling = isAll || asked.includes('kill');
    const kinds: Demand['by'][] = ['clients', 'end'];
    if (asked.length === 0) kinds.push('calm');
    if (isAll) kinds.push('faults');
    if (isLosing) kinds.push('losses');
    if (isKilling) kinds.push('kill');
    const lines = this.#below(...kinds).map((what) => coverage.shortOf(what));
    const untried = tries
      .map(({ call, manner }) => `${call}, ${manner}`)
      .filter((one) => !coverage.tried.has(one));
    if (untried.length > 0)
      lines.push(`never tried on what is of others or does not exist: ${untried.join('; ')}`);
    const struck = new Set([...faults.keys(), ...asked.filter((kind) => kind !== 'all')]);
    for (const kind of struck) {
      if (!faults.get(kind)) lines.push(`the fault ${kind} did not meet any traffic that it could hurt`);
    }
    for (const fault of disturbances.underWay) lines.push(`the fault ${fault} has no end`);
    if (isAll && faults.size === 0) lines.push('no fault struck');
    return lines;
  }
}
