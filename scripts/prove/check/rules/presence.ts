import type { View } from '../facts/views.js';
import { wasConnected } from '../facts/views.js';
import { type Answered, type Asked, at, type Rule } from '../rule.js';

export const presence: Rule = {
  name: 'presence',
  says: 'A member is present while one of their sockets is in the room, and no longer than promised afterwards',
  source:
    'docs/contract.md, sections 4 and 5: within 30 s of a process’s death, within 1 s of a loss of Redis’s data; gateway/PROTOCOL.md: within 10 s of a leave',
  watch(run, report) {
    /** Who could not be present any more when a join began, by its operation. */
    const goneBefore = new Map<number, number[]>();
    /** Members shown as absent; whether they were is known once their connections are known to have lasted. */
    const missed: { view: View; t: number; text: string }[] = [];

    /** By which the member is in the room: the answer holds who joins, too. */
    function viewOf(asked: Asked<'join'>, member: number): View | undefined {
      const isJoiner = member === asked.member && asked.door === 'socket';
      return isJoiner
        ? run.views.of(asked.room, asked.client)
        : run.views.inSince(asked.room, member, asked.t);
    }

    function count(asked: Asked<'join'>, member: number): void {
      run.coverage.add('presencesSeen');
      if (member !== asked.member && !run.disturbances.isCalmSince(asked.t))
        run.coverage.add('presencesAfterLoss');
    }

    /** Counts a member who is absent by the death of their gateway alone. */
    function noteKilled(room: number, member: number): void {
      const { killedLast } = run.disturbances;
      if (killedLast !== undefined && run.views.lostBy(room, member) === killedLast)
        run.coverage.add('absentAfterKill');
    }

    function check(asked: Asked<'join'>, ok: Answered<'join'>, member: number, wasGone: boolean): void {
      const shown = `the join of room ${asked.room} by ${asked.client}, asked at ${at(asked.t)}, shows member ${member}`;
      const isPresent = ok.present.includes(member);
      if (wasGone && member !== asked.member) {
        run.coverage.add('absencesSeen');
        noteKilled(asked.room, member);
        // They may have entered meanwhile.
        if (isPresent && !run.views.maybeIn(asked.room, member, ok.t)) {
          report(`${shown} as present, who has left and whose time is over`);
        }
        return;
      }
      const view = viewOf(asked, member);
      if (view?.state !== 'in' || !run.disturbances.isPresenceSure(asked.t)) return;
      count(asked, member);
      const text = `${shown} as absent, whose socket ${view.client} is in the room`;
      if (!isPresent) missed.push({ view, t: ok.t, text });
    }

    return {
      asked(asked) {
        if (asked.f !== 'join') return;
        const { members } = run.messages.room(asked.room);
        goneBefore.set(
          asked.op,
          members.filter((no) => !run.views.maybeIn(asked.room, no, asked.t)),
        );
      },
      unanswered: (_, { op }) => void goneBefore.delete(op),
      answered(ok, asked) {
        if (ok.f !== 'join' || asked.f !== 'join') return;
        const gone = goneBefore.get(ok.op) ?? [];
        goneBefore.delete(ok.op);
        if (new Set(ok.present).size < ok.present.length)
          report(
            `the join of room ${asked.room} by ${asked.client} shows a member twice: ${ok.present.join()}`,
          );
        for (const member of run.messages.room(asked.room).members) {
          check(asked, ok, member, gone.includes(member));
        }
      },
      end() {
        for (const { view, t, text } of missed) if (wasConnected(view, t)) report(text, t);
      },
    };
  },
};
