import type { Rule } from '../rule.js';

export const typing: Rule = {
  name: 'typing-is-typed',
  says: 'Who is shown to type, or to type no more, has said so in that room, as often at least as one connection is told; it may be lost',
  source: 'gateway/PROTOCOL.md, `typing`',
  watch(_run, report) {
    /** How often each member has said it of each room. */
    const said = new Map<string, number>();
    /** How often each client was told so by its open connection: an earlier one may have been told, too. */
    const told = new Map<string, Map<string, number>>();
    const raise = (counts: Map<string, number>, key: string): number => {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    };
    return {
      asked(asked) {
        if (asked.f === 'typing') raise(said, `${asked.room} ${asked.member} ${asked.typing}`);
      },
      delivered(delivery) {
        if (delivery.event !== 'typing') return;
        const { client, room, who } = delivery;
        const what = `${room} ${who} ${delivery.typing}`;
        const known = told.get(client) ?? new Map<string, number>();
        told.set(client, known);
        const times = raise(known, what);
        if (times <= (said.get(what) ?? 0)) return;
        const shown = `${client} is told that member ${who} types${delivery.typing ? '' : ' no more'} in room ${room}`;
        report(`${shown}, ${times} times; it was said ${said.get(what) ?? 0} times`);
      },
      closed({ client, door }) {
        if (door === 'socket') told.delete(client);
      },
    };
  },
};
