import type { Closed, Delivery, Fail, Info, Invoke, Ok } from '../../history.js';
import type { Answered, Asked } from '../rule.js';
import type { Disturbances } from './disturbances.js';

/** A room as one socket shows it. */
export interface View {
  readonly client: string;
  /** Where its connection ends. */
  readonly process: string;
  readonly member: number;
  readonly room: number;
  /** `unknown`: a join or leave is under way or its outcome is unknown. */
  state: 'in' | 'unknown';
  /** When the join was acknowledged by which it is in the room. */
  joinedAt: number;
  /** Joins under way. */
  joining: number;
  /** Number of the last message shown, while it has all up to it. */
  last: number | undefined;
  /** Who is in the room, by the join and the events after it. */
  present: Set<number>;
  /** Read position of each member that it was told. */
  reads: Map<number, number>;
  /** When its connection was found to be lost; the service may have lost it long before. */
  lostAt?: number;
}

interface Gone {
  at: number;
  /** Time in which the service has noticed without faults, ms. */
  within: number;
  /** Where its connection was lost. */
  lostBy?: string;
}

/** After a leave that was acknowledged, or a connection that its client closed, ms (PROTOCOL: within 10 s). */
const LEFT_MS = 10_000;

/** After a connection of unknown end (contract, section 4: within 30 s), ms. */
const LOST_MS = 40_000;

/** After the last fault, ms: presence and sweeps take 30 s, and the processes some to connect again. */
export const AFTER_FAULTS_MS = 35_000;

/** Longest time, ms, until a client notices that its connection is lost: a ping's interval and time-out, and some. */
const UNNOTICED_MS = 60_000;

const byClient = /client/;

/** Whether the service had the connection, too, when its client believed so. Ask at the end of the history. */
export const wasConnected = ({ lostAt }: View, t: number): boolean =>
  lostAt === undefined || lostAt > t + UNNOTICED_MS;

/** Until when a connection that its client found closed had certainly lasted, ms. */
export const aliveUntil = ({ t, reason }: Closed): number => (byClient.test(reason) ? t : t - UNNOTICED_MS);

/** Which sockets are in which rooms, for certain or perhaps. */
export class Views {
  readonly #disturbances: Disturbances;
  readonly #rooms = new Map<number, Map<string, View>>();
  readonly #gone = new Map<string, Gone>();
  /** Leaves by REST under way, and when the last one began or ended, by member and room. */
  readonly #leaves = new Map<string, { open: number; at: number }>();

  constructor(disturbances: Disturbances) {
    this.#disturbances = disturbances;
  }

  of(room: number, client: string): View | undefined {
    return this.#rooms.get(room)?.get(client);
  }

  in(room: number): View[] {
    return [...(this.#rooms.get(room)?.values() ?? [])];
  }

  /** All rooms that a client is in or may be in. */
  *ofClient(client: string): Generator<View> {
    for (const views of this.#rooms.values()) {
      const view = views.get(client);
      if (view) yield view;
    }
  }

  /**
   * Whether the member may be in the room now, as the service sees it.
   * @param moreMs further time, ms, without faults: until others have been told
   */
  maybeIn(room: number, member: number, now: number, moreMs = 0): boolean {
    if (this.in(room).some((view) => view.member === member)) return true;
    const gone = this.#gone.get(`${room} ${member}`);
    if (gone === undefined) return false;
    return !this.#disturbances.isSettled(gone.at, now, gone.within + moreMs, AFTER_FAULTS_MS);
  }

  /** A socket of the member that has been in the room since then, as its client sees it. */
  inSince(room: number, member: number, since: number): View | undefined {
    return this.in(room).find(
      (view) => view.member === member && view.state === 'in' && view.joinedAt <= since,
    );
  }

  /** The member may count as present for a while from now on. */
  linger(room: number, member: number, at: number, within = LOST_MS, lostBy?: string): void {
    const before = this.#gone.get(`${room} ${member}`);
    // The one that is noticed later counts.
    if (before && before.at + before.within > at + within) return;
    this.#gone.set(`${room} ${member}`, { at, within, ...(lostBy === undefined ? {} : { lostBy }) });
  }

  /** The process with which the member's last socket in the room was lost. */
  lostBy(room: number, member: number): string | undefined {
    return this.#gone.get(`${room} ${member}`)?.lostBy;
  }

  #remove({ room, client, member }: View, t: number, within: number, lostBy?: string): void {
    this.#rooms.get(room)?.delete(client);
    this.linger(room, member, t, within, lostBy);
  }

  asked(asked: Invoke): void {
    if (asked.f === 'join') this.#join(asked);
    else if (asked.f === 'leave') this.#leave(asked);
  }

  #join({ room, client, member, process }: Asked<'join'>): void {
    const views = this.#rooms.get(room) ?? new Map<string, View>();
    this.#rooms.set(room, views);
    const view = views.get(client);
    if (view) view.joining += 1;
    else
      views.set(client, {
        client,
        process,
        member,
        room,
        state: 'unknown',
        joinedAt: Number.POSITIVE_INFINITY,
        joining: 1,
        last: undefined,
        present: new Set(),
        reads: new Map(),
      });
  }

  #leave({ room, client, member, door, t }: Asked<'leave'>): void {
    for (const view of this.in(room)) {
      if (door === 'socket' ? view.client === client : view.member === member) view.state = 'unknown';
    }
    const key = `${room} ${member}`;
    this.#leaves.set(key, { open: (this.#leaves.get(key)?.open ?? 0) + 1, at: t });
  }

  answered(ok: Ok, asked: Invoke): void {
    if (ok.f === 'join' && asked.f === 'join') this.#joined(ok, asked);
    else if (asked.f === 'leave') this.#left(asked, ok.t);
  }

  #joined(ok: Answered<'join'>, asked: Asked<'join'>): void {
    const view = this.of(asked.room, asked.client);
    if (!view) return;
    view.joining -= 1;
    const leave = this.#leaves.get(`${asked.room} ${asked.member}`);
    // A leave at the same time may have come after it.
    const isIn = !leave || (leave.open === 0 && leave.at < asked.t);
    if (isIn && view.state !== 'in') view.joinedAt = ok.t;
    view.state = isIn ? 'in' : 'unknown';
    view.last = ok.more || !isIn ? undefined : ok.seq;
    view.present = new Set(ok.present);
  }

  #left(asked: Asked<'leave'>, t: number): void {
    this.#endLeave(asked, t);
    for (const view of this.in(asked.room)) {
      const isIts = asked.door === 'socket' ? view.client === asked.client : view.member === asked.member;
      if (isIts && view.state === 'unknown' && view.joining === 0) this.#remove(view, t, LEFT_MS);
    }
    this.linger(asked.room, asked.member, t, LEFT_MS);
  }

  #endLeave({ room, member }: Asked<'leave'>, t: number): void {
    const leave = this.#leaves.get(`${room} ${member}`);
    if (leave) this.#leaves.set(`${room} ${member}`, { open: leave.open - 1, at: t });
  }

  unanswered(outcome: Fail | Info, asked: Invoke): void {
    if (asked.f === 'leave') this.#endLeave(asked, outcome.t);
    if (asked.f !== 'join') return;
    const view = this.of(asked.room, asked.client);
    if (!view) {
      // Its connection closed meanwhile.
      this.linger(asked.room, asked.member, outcome.t);
      return;
    }
    view.joining -= 1;
    // The answer may have left without being received: what it held is then not delivered again.
    if (outcome.e === 'info') {
      view.state = 'unknown';
      view.last = undefined;
    } else if (view.joinedAt === Number.POSITIVE_INFINITY && view.joining === 0) {
      this.#remove(view, outcome.t, LEFT_MS);
    }
  }

  closed({ client, door, reason, t }: Closed): void {
    if (door !== 'socket') return;
    for (const view of this.ofClient(client)) {
      if (byClient.test(reason)) {
        this.#remove(view, t, LEFT_MS);
        continue;
      }
      view.lostAt = t;
      this.#remove(view, t, LOST_MS, view.process);
    }
  }

  /** Follows presence; messages are followed by the rule that compares their numbers. */
  delivered(delivery: Delivery): void {
    if (delivery.event !== 'presence') return;
    const view = this.of(delivery.room, delivery.client);
    if (delivery.present) view?.present.add(delivery.who);
    else view?.present.delete(delivery.who);
  }
}
