import type { SeenMessage } from '../../../../scripts/prove/history.js';
import { calls, events, finalJoins, first, lose, type Mutation, timeOf } from './edit-history.js';

/** Faults of what its name says, by the rule that finds them. */
export const messageMutations: Mutation[] = [
  {
    fault: 'loses the newest message of a room although it is acknowledged',
    rule: 'acknowledged-is-kept',
    apply(lines) {
      const [join] = finalJoins(lines);
      const acked = calls(lines, 'send').filter(({ asked }) => asked.room === join?.asked.room);
      const newest = acked.find(({ ok }) => ok.id === join?.ok.messages.at(-1)?.id);
      if (newest) lose(lines, newest.ok.id, newest.ok.t);
      return newest !== undefined;
    },
  },
  {
    fault: 'leaves a message out of a join',
    rule: 'acknowledged-is-kept',
    apply: (lines) => first(finalJoins(lines), ({ ok }) => void ok.messages.splice(1, 1)),
  },
  {
    fault: 'leaves a number out',
    rule: 'numbered-without-holes',
    apply(lines) {
      const [join] = finalJoins(lines);
      if (!join) return false;
      const { room } = join.asked;
      const shift = (message: { seq?: number }) => {
        if (message.seq !== undefined && message.seq > 2) message.seq += 1;
      };
      for (const { asked, ok } of calls(lines, 'join')) {
        if (asked.room !== room) continue;
        for (const message of ok.messages) shift(message);
        shift(ok);
      }
      for (const { asked, ok } of calls(lines, 'send')) if (asked.room === room) shift(ok);
      for (const event of events(lines, 'message')) if (event.room === room) shift(event.message);
      return true;
    },
  },
  {
    fault: 'gives one message two numbers',
    rule: 'numbered-without-holes',
    apply: (lines) =>
      first(finalJoins(lines), ({ ok }) => {
        const [a, b] = ok.messages as [SeenMessage, SeenMessage];
        [a.seq, b.seq] = [b.seq as number, a.seq as number];
      }),
  },
  {
    fault: 'shows two messages of a page in the other order',
    rule: 'same-order-for-all',
    apply: (lines) =>
      first(
        calls(lines, 'messages').filter(({ ok }) => ok.messages.length > 2),
        ({ ok }) => ok.messages.splice(0, 2, ...ok.messages.slice(0, 2).reverse()),
      ),
  },
  {
    fault: 'stores a message again when it is sent again',
    rule: 'stored-once',
    apply(lines) {
      const pushed = new Set(events(lines, 'message').map(({ message }) => message.id));
      return first(
        calls(lines, 'send').filter(({ ok }) => pushed.has(ok.id)),
        ({ ok }) => {
          ok.id = 'another';
        },
      );
    },
  },
  {
    fault: 'shows a message twice in a page',
    rule: 'stored-once',
    apply: (lines) =>
      first(
        calls(lines, 'messages').filter(({ ok }) => ok.messages.length > 0),
        ({ ok }) => ok.messages.push(...ok.messages.slice(-1)),
      ),
  },
  {
    fault: 'shows what nobody has sent',
    rule: 'nobody-sent-it',
    apply: (lines) =>
      first(events(lines, 'message'), ({ message }) => {
        message.content = 'nobody has sent this';
      }),
  },
  {
    fault: 'shows a message under another sender',
    rule: 'nobody-sent-it',
    apply: (lines) =>
      first(events(lines, 'message'), ({ message }) => {
        message.sender += 1;
      }),
  },
  {
    fault: 'stores what it refused',
    rule: 'nobody-sent-it',
    apply(lines) {
      const [push] = events(lines, 'message').filter(({ message }) =>
        calls(lines, 'send').some(
          ({ asked, ok }) => asked.content === message.content && ok.t < timeOf(lines, 'quiet'),
        ),
      );
      const ok = calls(lines, 'send').filter(({ asked }) => asked.content === push?.message.content);
      const attempts = lines.filter(
        (line) => line.e === 'invoke' && line.f === 'send' && line.content === push?.message.content,
      );
      if (attempts.length > 1) return false;
      return first(ok, ({ ok: line }) => {
        lines[lines.indexOf(line)] = { e: 'fail', op: line.op, status: 429, code: 'RATE_LIMITED', t: line.t };
      });
    },
  },
  {
    fault: 'gives a later message a lower number',
    rule: 'later-is-numbered-later',
    apply(lines) {
      const sends = calls(lines, 'send');
      const late = sends.filter(
        ({ asked, ok }) =>
          ok.seq !== undefined &&
          !sends.some(
            (other) => other !== undefined && other.asked.content === asked.content && other.ok !== ok,
          ),
      );
      for (const { asked, ok } of late) {
        const next = late.find(
          (other) =>
            other.asked.room === asked.room &&
            other.ok.seq === (ok.seq as number) + 1 &&
            other.asked.t > ok.t,
        );
        if (!next) continue;
        // Who asked first is exchanged, everywhere that a number or a text is shown.
        next.asked.t = ok.t - 0.5;
        const early = asked.t;
        asked.t = next.ok.t + 100;
        ok.t = asked.t + 1;
        next.ok.t = early + 0.5;
        next.asked.t = early;
        lines.sort((a, b) => a.t - b.t);
        return true;
      }
      return false;
    },
  },
  {
    fault: 'shows an older message as the latest',
    rule: 'acknowledged-is-kept',
    apply(lines) {
      const [join] = finalJoins(lines);
      const list = calls(lines, 'rooms').reverse();
      return first(
        list.flatMap(({ ok }) => ok.rooms.filter(({ room }) => room === join?.asked.room)),
        (state) => {
          state.latest = join?.ok.messages[0]?.content as string;
        },
      );
    },
  },
];
