import { expect } from 'chai';
import fc from 'fast-check';
import { openChat } from '../../support/chat.js';
import { startServiceProcess } from '../../support/service-process.js';
import { connect } from '../../support/sockets.js';
import { type Door, expectNoScans, MEASURED } from './door.js';
import { few, type Request, requests, sendRequest } from './rest.js';
import { eventLists, eventSender, type Sent } from './sockets.js';
import { SECRET } from './tokens.js';

const article = { categoryId: 1, title: 'Bori', context: 'Thank you' };

/** REST requests and events of sockets, both to one service. */
export const calls: Door<Request | Sent[]> = {
  name: 'calls',
  cases: 600,
  input: fc.oneof(
    { weight: 7, arbitrary: requests as fc.Arbitrary<Request | Sent[]> },
    { weight: 3, arbitrary: eventLists },
  ),
  async open() {
    const service = await startServiceProcess({ RATE_LIMIT: 'off', JWT_SECRET: SECRET, ...MEASURED });
    const [TOKEN, OTHER] = [
      await service.token('asker@example.org'),
      await service.token('author@example.org'),
    ];
    const asker = service.as(TOKEN);
    for (const _ of few) await asker.post('/community/article', article);
    for (const boardId of few) await asker.post('/community/comment', { boardId, context: 'Me too' });
    await openChat(asker, service.saleNo, service.authorNo);
    const open = (token: string) => connect({ token }, {}, service.gateway);
    const bystander = await open(OTHER);
    const sendEvents = eventSender(() => open(TOKEN));
    return {
      processes: [service.process],
      send: (input) =>
        Array.isArray(input) ? sendEvents(input) : sendRequest(service.http, { TOKEN, OTHER }, input),
      async check() {
        expect((await service.anyone.get('/healthz')).status).to.equal(200);
        expect((await asker.post('/community/article', article)).status).to.equal(200);
        expect(await bystander.join(1)).to.include({ status: 200 });
        const content = 'after all of it';
        expect(await (await open(TOKEN)).send(1, content)).to.include({ status: 200 });
        await bystander.next('message', (message: { content: string }) => message.content === content);
        await expectNoScans(service.mongoUri);
      },
      async close() {
        bystander.socket.disconnect();
        await service.stop();
      },
    };
  },
};
