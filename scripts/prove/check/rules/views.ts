import { nameOf } from '../facts/messages.js';
import type { Run } from '../facts/run.js';
import { AFTER_FAULTS_MS, type View, wasConnected } from '../facts/views.js';
import type { Answered, Asked, Rule } from '../rule.js';

/** Time in which a gateway finds a lost push, ms (PROTOCOL: within 10 s), and some for the machine. */
const FOUND_WITHIN_MS = 12_000;

export const viewOrder: Rule = {
  name: 'no-view-skips',
  says: 'Between joins a socket is shown every message of its room once, in order of the numbers',
  source: 'gateway/PROTOCOL.md, order and catching up',
  watch: (run, report) => ({
    saw({ by, room, client, seen, t }) {
      const view = by === 'push' ? run.views.of(room, client) : undefined;
      // While a join is under way its answer may hold the message, too.
      if (!view || view.last === undefined || view.state !== 'in' || view.joining > 0) return;
      if (seen.seq === undefined) return;
      if (seen.seq !== view.last + 1) {
        const what = seen.seq <= view.last ? 'again' : `without the ${seen.seq - view.last - 1} before it`;
        report(
          `${client} in room ${room} shows up to number ${view.last}, and is pushed ${nameOf(seen)} ${what}`,
          t,
        );
      }
      view.last = Math.max(view.last, seen.seq);
    },
  }),
};

/**
 * What sockets in a room have not been told of who has entered and left, although that was due. Each of it is found once.
 * @param note takes what is found, and the sockets whose connections must have lasted
 */
function checkTold(run: Run, room: number, note: (views: View[], text: string) => void): void {
  const inside = run.views.in(room).filter(({ state, joining }) => state === 'in' && joining === 0);
  for (const view of inside) {
    const { client, member, present } = view;
    const gone = [...present].filter((who) => !run.views.maybeIn(room, who, run.now, FOUND_WITHIN_MS));
    for (const who of gone.filter((no) => no !== member)) {
      note([view], `${client} in room ${room} is not told that member ${who} has left`);
      present.delete(who);
    }
    for (const other of inside) {
      const since = Math.max(view.joinedAt, other.joinedAt);
      const isDue = run.disturbances.isSettled(since, run.now, FOUND_WITHIN_MS, AFTER_FAULTS_MS);
      if (present.has(other.member) || !isDue) continue;
      note([view, other], `${client} in room ${room} is not told that member ${other.member} has entered`);
      present.add(other.member);
    }
  }
}

export const viewComplete: Rule = {
  name: 'joined-view-is-fresh',
  says: 'A joined socket shows what a fresh join shows: all messages, and who is present',
  source: 'docs/contract.md, promise 5; gateway/PROTOCOL.md, order and catching up',
  watch(run, report) {
    /** When anything last happened in each room that its sockets are to be shown. */
    const changed = new Map<number, number>();
    /** Rooms that are compared only once: a fresh join changes who is present. */
    const compared = new Set<number>();

    /** Rooms that each client has joined. */
    const joined = new Map<string, Set<number>>();

    const isDue = (t: number) => run.disturbances.isSettled(t, run.now, FOUND_WITHIN_MS, AFTER_FAULTS_MS);

    /** Differences of sockets; whether they count is known once the connections are known to have lasted. */
    const found: { views: View[]; t: number; text: string }[] = [];

    const note = (views: View[], text: string) => found.push({ views, t: run.now, text });

    function compareMessages(view: View, seq: number): void {
      const { client, room, last } = view;
      if (last === undefined || last >= seq) return;
      const head = run.messages.room(room).bySeq[seq];
      note(
        [view],
        `${client} in room ${room} shows up to number ${last}; a fresh join up to ${head ? nameOf(head) : seq}`,
      );
    }

    /** @param except of whom the others may not be told yet */
    function comparePresence(view: View, fresh: number[], except: Set<number>): void {
      const { client, room, present } = view;
      for (const who of fresh) {
        if (except.has(who) || present.has(who)) continue;
        note([view], `${client} in room ${room} does not show member ${who} as present; a fresh join does`);
      }
      for (const who of present) {
        if (except.has(who) || fresh.includes(who)) continue;
        note([view], `${client} in room ${room} shows member ${who} as present; a fresh join does not`);
      }
    }

    /** @param since when the room last changed before the join */
    function compare(asked: Asked<'join'>, ok: Answered<'join'>, since: number): void {
      const all = run.views.in(asked.room);
      const isOld = (view: View) =>
        view.state === 'in' && view.joining === 0 && isDue(Math.max(since, view.joinedAt));
      const entering = new Set(all.filter((view) => !isOld(view)).map(({ member }) => member));
      for (const view of all.filter(isOld)) {
        compareMessages(view, ok.seq);
        comparePresence(view, ok.present, entering);
        run.coverage.add('viewsCompared');
      }
    }

    return {
      asked(asked) {
        if (asked.f === 'send' || asked.f === 'leave') changed.set(asked.room, asked.t);
      },
      phase({ phase }) {
        if (phase === 'final') for (const room of run.messages.rooms.keys()) checkTold(run, room, note);
      },
      answered(ok, asked) {
        if (asked.f === 'send') checkTold(run, asked.room, note);
        if (asked.f === 'send' || asked.f === 'leave') changed.set(asked.room, ok.t);
        if (ok.f !== 'join' || asked.f !== 'join') return;
        joined.set(asked.client, (joined.get(asked.client) ?? new Set()).add(asked.room));
        const since = changed.get(asked.room) ?? 0;
        changed.set(asked.room, ok.t);
        if (run.phase !== 'final' || compared.has(asked.room)) return;
        compared.add(asked.room);
        compare(asked, ok, since);
      },
      unanswered({ t }, asked) {
        if (asked.f === 'send' || asked.f === 'leave' || asked.f === 'join') changed.set(asked.room, t);
      },
      closed({ client, door, t }) {
        if (door !== 'socket') return;
        for (const room of joined.get(client) ?? []) changed.set(room, t);
        joined.delete(client);
      },
      end() {
        for (const { views, t, text } of found)
          if (views.every((view) => wasConnected(view, t))) report(text, t);
      },
    };
  },
};
