import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { requests } from '../../../gateway/protocol.js';
import { openChat } from '../../support/chat.js';
import { startServiceProcess } from '../../support/service-process.js';
import { type Client, connect } from '../../support/sockets.js';
import { type Door, MEASURED } from './door.js';
import { SECRET, tokens } from './tokens.js';
import { near, type Schema, wild } from './values.js';

interface Sent {
  event: string;
  args: unknown[];
  /** Without, nobody waits for an answer. */
  acknowledged: boolean;
}

const known = { chatNo: [1], seq: [0, 1, 2], contentType: ['text'] };

const events: [string, fc.Arbitrary<unknown>][] = Object.entries(requests).map(([event, { request }]) => [
  event,
  near(z.toJSONSchema(request, { io: 'input', unrepresentable: 'any' }) as Schema, { known }),
]);
const others = ['__proto__', 'hasOwnProperty', 'message', ''].map(
  (event): [string, fc.Arbitrary<unknown>] => [event, wild],
);

const sent: fc.Arbitrary<Sent> = fc.oneof(
  ...[...events, ['auth:refresh', tokens.map((token) => ({ token }))] as const, ...others].map(
    ([event, request]) =>
      fc.record({
        event: fc.constant(event),
        args: fc
          .tuple(request, fc.nat(9), wild)
          .map(([one, die, second]) => (die === 0 ? [] : die === 1 ? [one, second] : [one])),
        acknowledged: fc.nat(9).map((die) => die > 0),
      }),
  ),
);

/** Events of Socket.IO clients, sent one after another over one connection. */
export const sockets: Door<Sent[]> = {
  name: 'sockets',
  cases: 300,
  input: fc.array(sent, { minLength: 1, maxLength: 4 }),
  async open() {
    const service = await startServiceProcess({ RATE_LIMIT: 'off', JWT_SECRET: SECRET, ...MEASURED });
    const [token, other] = await Promise.all(
      ['asker@example.org', 'author@example.org'].map(async (email) => ({
        token: await service.token(email),
      })),
    );
    await openChat(service.as(token?.token as string), service.saleNo, service.authorNo);
    const open = (who: { token: string } | undefined) =>
      connect(who as { token: string }, {}, service.gateway);
    const bystander = await open(other);
    let client: Client = await open(token);
    const isClosing = () => client.heard('closing').length > 0;
    return {
      processes: [service.process],
      async send(list) {
        if (isClosing() || !client.socket.connected) client = await open(token);
        const last = { event: 'room:join', args: [{ chatNo: 1 }], acknowledged: true };
        for (const { event, args, acknowledged } of [...list, last]) {
          if (!acknowledged) client.socket.emit(event, ...args);
          else {
            const answer = await client.ask(event, ...args).catch((error: Error) => error);
            // After a refresh with another member's token the server closes.
            if (isClosing()) return;
            expect(answer).to.have.property('status').within(200, 499);
          }
        }
      },
      async check() {
        expect(await bystander.join(1)).to.include({ status: 200 });
        const content = 'after all of it';
        expect(await (await open(token)).send(1, content)).to.include({ status: 200 });
        await bystander.next('message', (message: { content: string }) => message.content === content);
      },
      async close() {
        client.socket.disconnect();
        bystander.socket.disconnect();
        await service.stop();
      },
    };
  },
};
