import { readLines } from '../check/read-lines.js';
import type { HistoryLine, Invoke } from '../history.js';

/** A fault from its begin to its end, ms. */
export interface Strike {
  fault: string;
  target: string;
  from: number;
  /** Infinity: it never ended. */
  to: number;
}

/** Something at a moment; `took` ms, where that is known. */
export interface Moment {
  t: number;
  member: number;
  took: number;
}

/** What a picture shows of a history. */
export interface Story {
  members: { no: number; nickname: string }[];
  phases: Map<string, number>;
  end: number;
  strikes: Strike[];
  /** Acknowledged messages, with the time from asking to the acknowledgement. */
  sends: Moment[];
  /** Messages pushed to sockets of others, with the time since they were asked for. */
  deliveries: Moment[];
  /** Operations of unknown outcome. */
  unanswered: Moment[];
  /** Times without an open socket, by member. */
  offline: { member: number; from: number; to: number }[];
}

class Collector {
  readonly story: Story = {
    members: [],
    phases: new Map(),
    end: 0,
    strikes: [],
    sends: [],
    deliveries: [],
    unanswered: [],
    offline: [],
  };
  readonly #asked = new Map<number, Invoke>();
  /** When each text was first asked for. */
  readonly #askedAt = new Map<string, number>();
  /** Open sockets of each member, and since when there is none. */
  readonly #open = new Map<number, Set<string>>();
  readonly #offlineSince = new Map<number, number>();
  readonly #memberOf = new Map<string, number>();

  read(line: HistoryLine): void {
    const { story } = this;
    story.end = line.t;
    if (line.e === 'header') story.members = line.members;
    else if (line.e === 'phase') story.phases.set(line.phase, line.t);
    else if (line.e === 'fault') this.#strike(line);
    else if (line.e === 'invoke') this.#ask(line);
    else if (line.e === 'ok' || line.e === 'info' || line.e === 'fail') this.#settle(line);
    else if (line.e === 'closed' && line.door === 'socket') this.#close(line.client, line.t);
    else if (line.e === 'delivery' && line.event === 'message' && line.message.sender !== line.member) {
      const took = line.t - (this.#askedAt.get(line.message.content) ?? line.t);
      story.deliveries.push({ t: line.t, member: line.member, took });
    }
  }

  #strike({ fault, target, phase, t }: Extract<HistoryLine, { e: 'fault' }>): void {
    const { strikes } = this.story;
    if (phase === 'begin') strikes.push({ fault, target, from: t, to: Number.POSITIVE_INFINITY });
    const open = strikes.find(
      (one) => one.fault === fault && one.target === target && one.to === Number.POSITIVE_INFINITY,
    );
    if (phase === 'end' && open) open.to = t;
  }

  #ask(asked: Invoke): void {
    this.#asked.set(asked.op, asked);
    if (asked.f === 'send' && !this.#askedAt.has(asked.content)) this.#askedAt.set(asked.content, asked.t);
  }

  #settle(line: Extract<HistoryLine, { e: 'ok' | 'info' | 'fail' }>): void {
    const asked = this.#asked.get(line.op);
    if (!asked) return;
    this.#asked.delete(line.op);
    const { member } = asked;
    const moment = { t: line.t, member, took: line.t - asked.t };
    if (line.e === 'info') this.story.unanswered.push(moment);
    if (line.e !== 'ok') return;
    if (line.f === 'send') this.story.sends.push(moment);
    else if (line.f === 'connect') this.#connect(asked.client, member, line.t);
  }

  #connect(client: string, member: number, t: number): void {
    this.#memberOf.set(client, member);
    const open = this.#open.get(member) ?? new Set();
    this.#open.set(member, open.add(client));
    const from = this.#offlineSince.get(member);
    if (from !== undefined) this.story.offline.push({ member, from, to: t });
    this.#offlineSince.delete(member);
  }

  #close(client: string, t: number): void {
    const member = this.#memberOf.get(client);
    if (member === undefined || !this.#open.get(member)?.delete(client)) return;
    if (this.#open.get(member)?.size === 0) this.#offlineSince.set(member, t);
  }

  finish(): Story {
    const { story } = this;
    const until = story.phases.get('end') ?? story.end;
    for (const [member, from] of this.#offlineSince) {
      if (from < until) story.offline.push({ member, from, to: until });
    }
    story.end = until;
    return story;
  }
}

/** @throws Error naming the number of a line that is no part of a history */
export async function collect(lines: AsyncIterable<string>): Promise<Story> {
  const collector = new Collector();
  for await (const { line } of readLines(lines)) collector.read(line);
  return collector.finish();
}
