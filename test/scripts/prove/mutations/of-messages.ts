import type { SeenMessage } from '../../../../scripts/prove/history.js';
import { calls, events, finalJoins, lose, type Mutation, the, timeOf } from './edit-history.js';

/** Faults of what its name says, by the rule that finds them. */
export const messageMutations: Mutation[] = [
  {
    fault: 'loses the newest message of a room although it is acknowledged',
    rule: 'acknowledged-is-kept',
    apply(lines) {
      const { asked, ok } = the(finalJoins(lines)[0]);
      const acked = calls(lines, 'send').filter((one) => one.asked.room === asked.room);
      const newest = the(acked.find((one) => one.ok.id === ok.messages.at(-1)?.id));
      lose(lines, newest.ok.id, newest.ok.t);
    },
  },
  {
    fault: 'leaves a message out of a join',
    rule: 'acknowledged-is-kept',
    apply: (lines) => void the(finalJoins(lines)[0]).ok.messages.splice(1, 1),
  },
  {
    fault: 'leaves a number out',
    rule: 'numbered-without-holes',
    apply(lines) {
      const { room } = the(finalJoins(lines)[0]).asked;
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
    },
  },
  {
    fault: 'gives one message two numbers',
    rule: 'numbered-without-holes',
    apply(lines) {
      const [a, b] = the(finalJoins(lines)[0]).ok.messages as [SeenMessage, SeenMessage];
      [a.seq, b.seq] = [b.seq as number, a.seq as number];
    },
  },
  {
    fault: 'shows two messages of a page in the other order',
    rule: 'same-order-for-all',
    apply(lines) {
      const { messages } = the(calls(lines, 'messages').find(({ ok }) => ok.messages.length > 2)).ok;
      messages.splice(0, 2, ...messages.slice(0, 2).reverse());
    },
  },
  {
    fault: 'stores a message again when it is sent again',
    rule: 'stored-once',
    apply(lines) {
      const pushed = new Set(events(lines, 'message').map(({ message }) => message.id));
      the(calls(lines, 'send').find(({ ok }) => pushed.has(ok.id))).ok.id = 'another';
    },
  },
  {
    fault: 'shows a message twice in a page',
    rule: 'stored-once',
    apply(lines) {
      const { messages } = the(calls(lines, 'messages').find(({ ok }) => ok.messages.length > 0)).ok;
      messages.push(...messages.slice(-1));
    },
  },
  {
    fault: 'shows what nobody has sent',
    rule: 'nobody-sent-it',
    apply(lines) {
      the(events(lines, 'message')[0]).message.content = 'nobody has sent this';
    },
  },
  {
    fault: 'shows a message under another sender',
    rule: 'nobody-sent-it',
    apply(lines) {
      the(events(lines, 'message')[0]).message.sender += 1;
    },
  },
  {
    fault: 'stores what it refused',
    rule: 'nobody-sent-it',
    apply(lines) {
      const attempts = (content: string) =>
        lines.filter((line) => line.e === 'invoke' && line.f === 'send' && line.content === content).length;
      const sends = calls(lines, 'send').filter(({ ok }) => ok.t < timeOf(lines, 'quiet'));
      const { ok } = the(sends.find(({ asked }) => attempts(asked.content) === 1));
      lines[lines.indexOf(ok)] = { e: 'fail', op: ok.op, status: 429, code: 'RATE_LIMITED', t: ok.t };
    },
  },
  {
    fault: 'gives a later message a lower number',
    rule: 'later-is-numbered-later',
    apply(lines) {
      const sends = calls(lines, 'send');
      const attempts = (content: string) => sends.filter(({ asked }) => asked.content === content).length;
      const once = sends.filter(({ asked, ok }) => ok.seq !== undefined && attempts(asked.content) === 1);
      const nextOf = ({ asked, ok }: (typeof once)[0]) =>
        once.find(
          (other) =>
            other.asked.room === asked.room &&
            other.ok.seq === (ok.seq as number) + 1 &&
            other.asked.t > ok.t,
        );
      const { asked, ok } = the(once.find((one) => nextOf(one) !== undefined));
      const next = the(nextOf({ asked, ok }));
      // Who asked first is exchanged, everywhere that a number or a text is shown.
      const early = asked.t;
      asked.t = next.ok.t + 100;
      ok.t = asked.t + 1;
      next.ok.t = early + 0.5;
      next.asked.t = early;
      lines.sort((a, b) => a.t - b.t);
    },
  },
  {
    fault: 'shows an older message as the latest',
    rule: 'acknowledged-is-kept',
    apply(lines) {
      const { asked, ok } = the(finalJoins(lines)[0]);
      const states = calls(lines, 'rooms').flatMap((one) => one.ok.rooms);
      const state = the(states.findLast(({ room }) => room === asked.room));
      state.latest = ok.messages[0]?.content as string;
    },
  },
];
