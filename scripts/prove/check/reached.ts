import { faultKinds } from '../faults/kinds.js';
import type { Counts, Delivery, Fault, Header, Invoke, Ok } from '../history.js';
import type { Counted } from './facts/coverage.js';
import type { SentMessage } from './facts/messages.js';
import type { Run } from './facts/run.js';

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
  'notificationListsCompared',
  'commentCountsCompared',
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
  roomStatesCompared: 'last room events compared with a fresh list',
  notificationListsCompared: 'lists of notifications compared',
  absentRecipients: 'messages to absent recipients',
  heartCountsCompared: 'counts of hearts compared',
  commentCountsCompared: 'counts of comments compared',
};

export const nameOfCounted = (what: keyof Counted): string => NAMES[what];

/** Follows what a history reaches, and tells what it should have reached. */
export class Reached {
  readonly #run: Run;
  #options: Record<string, unknown> = {};
  /** Kinds of faults under way, with how many targets each. */
  readonly #active = new Map<string, number>();
  #underWay = 0;
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

  fault({ fault, phase }: Fault): void {
    const active = (this.#active.get(fault) ?? 0) + (phase === 'begin' ? 1 : -1);
    this.#active.set(fault, active);
    const { faults } = this.#run.coverage;
    faults.set(fault, (faults.get(fault) ?? 0) + (phase === 'begin' ? this.#underWay : 0));
  }

  counts({ counts }: Counts): void {
    for (const [name, count] of Object.entries(counts)) {
      for (const [metric, what] of METRICS) if (metric.test(name)) this.#run.coverage.add(what, count);
    }
  }

  asked(asked: Invoke): void {
    this.#underWay += 1;
    const { faults } = this.#run.coverage;
    for (const [fault, targets] of this.#active)
      if (targets > 0) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    if (asked.f === 'stream' && asked.after !== undefined) this.#opening.set(asked.client, asked.t);
    if (asked.f === 'send') {
      const message = this.#run.messages.byContent(asked.content);
      if (message?.id !== undefined) this.#retried.set(asked.op, message);
    }
  }

  /** Attempts to send what is known to be stored. */
  readonly #retried = new Map<number, SentMessage>();

  settled(asked: Invoke): void {
    this.#underWay -= 1;
    if (asked.f === 'send') {
      this.#retried.delete(asked.op);
    }
  }

  answered(ok: Ok, asked: Invoke): void {
    const { coverage } = this.#run;
    if (ok.f === 'send' && asked.f === 'send') {
      if (this.#retried.get(ok.op)?.id === ok.id) coverage.add('deduplicatedRetries');
    }
    if (ok.f === 'join' && asked.f === 'join' && this.#run.phase === 'final' && !ok.more) {
      const readers = this.#readers.get(asked.room) ?? new Set();
      this.#readers.set(asked.room, readers.add(asked.member));
    }
    this.settled(asked);
  }

  delivered(delivery: Delivery): void {
    if (delivery.door !== 'stream') return;
    const askedAt = this.#opening.get(delivery.client);
    if (askedAt === undefined) return;
    this.#opening.delete(delivery.client);
    const record = this.#run.notifications.of(delivery.member).records.get(delivery.notification.id);
    const cause = record?.cause;
    const storedAt = cause?.kind === 'chat' ? cause.message.ackedAt : cause?.comment.ackedAt;
    if (storedAt !== undefined && storedAt < askedAt) this.#run.coverage.add('replayedStreams');
  }

  end(): void {
    for (const { uncertain, id } of this.#run.messages.all()) {
      if (uncertain && id !== undefined) this.#run.coverage.add('lostAcknowledgements');
    }
    for (const readers of this.#readers.values())
      if (readers.size === 2) this.#run.coverage.add('roomsReadWhole');
  }

  /** What the options of the run let expect and it did not reach, a line each. */
  missing(): string[] {
    const { counts, faults } = this.#run.coverage;
    const wanted = this.#options.faults ?? 'none';
    const asked = Array.isArray(wanted) ? wanted.map(String) : String(wanted).split(',');
    const isAll = asked.includes('all') || faultKinds.every((kind) => asked.includes(kind));
    const demanded = [...ALWAYS, ...REPEATED, ...(isAll ? BY_FAULTS : [])];
    const lines = demanded
      .filter((what) => counts[what] === 0)
      .map((what) => `never reached: ${NAMES[what]}`);
    const kinds = new Set([...faults.keys(), ...asked.filter((kind) => kind !== 'all' && kind !== 'none')]);
    for (const kind of kinds) {
      if (!faults.get(kind)) lines.push(`the fault ${kind} did not meet any traffic`);
    }
    if (isAll && faults.size === 0) lines.push('no fault struck');
    return lines;
  }
}
