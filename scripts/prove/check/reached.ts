import { faultKinds } from '../faults/kinds.js';
import type { Closed, Counts, Delivery, Fault, Header, Invoke, Ok } from '../history.js';
import { tries } from '../intrusions.js';
import type { Counted } from './facts/coverage.js';
import type { SentMessage } from './facts/messages.js';
import type { Run } from './facts/run.js';
import { canHurtRequest, isAtTarget } from './victims.js';

/** Metrics in which the service itself counts rare paths. */
const METRICS: [metric: RegExp, counted: keyof Counted][] = [
  [/^adoption_chat_conflicts_total/, 'conflicts'],
  [/^adoption_chat_gaps_filled_total/, 'filledGaps'],
  [/^adoption_event_stream_notifications_total.*source="?gap/, 'filledGaps'],
];

/** Of a chat history without these nothing is known. */
const ALWAYS: (keyof Counted)[] = [
  'roomsReadWhole',
  'unreadCountsCompared',
  'roomStatesCompared',
  'readPositionsCompared',
  'notificationListsCompared',
  'commentCountsCompared',
  'bookmarksCompared',
];

/** What every run can reach: clients retry and open streams again on purpose. */
const REPEATED: (keyof Counted)[] = ['deduplicatedRetries', 'replayedStreams'];

/** What only faults cause. */
const BY_FAULTS: (keyof Counted)[] = ['filledGaps', 'lostAcknowledgements', 'conflicts'];

/** As violations of a demand print it. */
const NAMES: Record<keyof Counted, string> = {
  deduplicatedRetries: 'retries answered with the first message',
  filledGaps: 'gaps that a process filled from the database',
  lostAcknowledgements: 'messages stored whose acknowledgement was lost',
  replayedStreams: 'streams that replayed',
  conflicts: 'numbers that two processes took at the same time',
  roomsReadWhole: 'rooms read whole at the end by both',
  viewsCompared: 'joined sockets compared with a fresh join',
  presencesSeen: 'members seen present',
  absencesSeen: 'members seen absent',
  unreadCountsCompared: 'unread counts compared with the messages',
  roomStatesCompared: 'rooms as sockets show them compared with a fresh list',
  readPositionsCompared: 'read positions that sockets show compared with a fresh list',
  notificationListsCompared: 'lists of notifications compared',
  absentRecipients: 'messages to absent recipients',
  heartCountsCompared: 'counts of hearts compared',
  bookmarksCompared: 'bookmarks asked for again at the end',
  commentCountsCompared: 'counts of comments compared',
  intrusionsRefused: 'calls on what is of others or does not exist, refused',
};

export const nameOfCounted = (what: keyof Counted): string => NAMES[what];

/** Follows what a history reaches, and tells what it should have reached. */
export class Reached {
  readonly #run: Run;
  #options: Record<string, unknown> = {};
  /** Faults and requests under way. */
  #faults: Fault[] = [];
  readonly #requests = new Map<number, Invoke>();
  /** Where the connections of clients end, by client and door. */
  readonly #processes = new Map<string, string>();
  /** When each stream was asked for, until its first delivery. */
  readonly #opening = new Map<string, number>();
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
    if (asked.f === 'stream' && asked.after !== undefined) this.#opening.set(asked.client, asked.t);
    if (asked.f === 'send') {
      const message = this.#run.messages.byContent(asked.content);
      if (message?.id !== undefined) this.#retried.set(asked.op, message);
    }
  }

  /** Attempts to send what is known to be stored. */
  readonly #retried = new Map<number, SentMessage>();

  settled({ op }: Invoke): void {
    this.#requests.delete(op);
    this.#retried.delete(op);
  }

  answered(ok: Ok, asked: Invoke): void {
    const { coverage } = this.#run;
    if (ok.f === 'connect' || ok.f === 'stream')
      this.#processes.set(`${asked.client} ${asked.door}`, asked.process);
    if (ok.f === 'send' && asked.f === 'send') {
      if (this.#retried.get(ok.op)?.id === ok.id) coverage.add('deduplicatedRetries');
    }
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
    if (delivery.door !== 'stream') return;
    const askedAt = this.#opening.get(delivery.client);
    if (askedAt === undefined) return;
    this.#opening.delete(delivery.client);
    const record = this.#run.notifications.of(delivery.member).records.get(delivery.notification.id);
    const cause = record?.cause;
    const storedAt = cause?.kind === 'chat' ? cause.message.ackedAt : cause?.comment.ackedAt;
    if (storedAt !== undefined && storedAt < askedAt) this.#run.coverage.add('replayedStreams');
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

  /** What the options of the run let expect and it did not reach, a line each. After `count`. */
  missing(): string[] {
    const { counts, faults } = this.#run.coverage;
    const wanted = this.#options.faults ?? 'none';
    const asked = Array.isArray(wanted) ? wanted.map(String) : String(wanted).split(',');
    const isAll = asked.includes('all') || faultKinds.every((kind) => asked.includes(kind));
    const demanded = [...ALWAYS, ...REPEATED, ...(isAll ? BY_FAULTS : [])];
    const lines = demanded
      .filter((what) => counts[what] === 0)
      .map((what) => `never reached: ${NAMES[what]}`);
    const { tried } = this.#run.coverage;
    const untried = tries.map(({ call, manner }) => `${call}, ${manner}`).filter((one) => !tried.has(one));
    if (untried.length > 0)
      lines.push(`never tried on what is of others or does not exist: ${untried.join('; ')}`);
    const kinds = new Set([...faults.keys(), ...asked.filter((kind) => kind !== 'all' && kind !== 'none')]);
    for (const kind of kinds) {
      if (!faults.get(kind)) lines.push(`the fault ${kind} did not meet any traffic that it could hurt`);
    }
    for (const fault of this.#run.disturbances.underWay) lines.push(`the fault ${fault} has no end`);
    if (isAll && faults.size === 0) lines.push('no fault struck');
    return lines;
  }
}
