import { expect } from 'chai';
import { push } from '../support/chat.js';
import { metric, type Reply, type RestClient } from '../support/rest.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { connect } from '../support/sockets.js';
import { openStream } from '../support/streams.js';

const SETTINGS = { MESSAGES_PER_DAY: '3', ARTICLES_PER_DAY: '2', COMMENTS_PER_DAY: '2' };
const DAY_S = 86_400;

const article = { categoryId: 1, title: 'A title', context: 'A text', imageList: [], thumbnail: '' };

describe('the quotas of a member and day', () => {
  let service: ServiceProcess;
  let counter = 0;
  before(async () => {
    service = await startServiceProcess(SETTINGS);
  });
  after(() => service.stop());

  async function member(of = service): Promise<{ token: string; rest: RestClient }> {
    counter += 1;
    const token = await of.token(`member-${counter}@example.org`);
    return { token, rest: of.as(token) };
  }

  function expectRefused({ status, headers, body }: Reply, text: string): void {
    expect([status, body]).to.deep.equal([429, { status: 429, message: 'QUOTA_EXCEEDED', errors: [text] }]);
    expect(Number(headers.get('retry-after'))).to.be.within(DAY_S - 60, DAY_S);
  }

  async function room(rest: RestClient, of = service): Promise<number> {
    await rest.post('/chatroom', { saleNo: of.saleNo, createMember: of.authorNo });
    return (await rest.get<{ chatNo: number }[]>('/chatroom')).body[0]?.chatNo as number;
  }

  it('11: are one for messages over REST and sockets, with the time to wait', async () => {
    const { token, rest } = await member();
    const chatNo = await room(rest);
    const send = (content: string) =>
      rest.post('/chatroom/notification', push(chatNo, service.saleNo, content));
    const client = await connect({ token }, {}, service.gateway);
    const first = await client.send(chatNo, 'one', 'client-id');
    expect((await send('two')).status).to.equal(200);
    expect((await client.send(chatNo, 'three')).status).to.equal(200);
    const refused = await client.send<{ retryAfterMs: number }>(chatNo, 'four');
    const { retryAfterMs, ...body } = refused;
    const errors = ['more than 3 messages in 24 h'];
    expect(body).to.deep.equal({ status: 429, message: 'QUOTA_EXCEEDED', errors });
    expect(retryAfterMs).to.be.within((DAY_S - 60) * 1_000, DAY_S * 1_000);
    expectRefused(await send('five'), errors[0] as string);
    expect((await rest.get<{ chatList: object[] }>(`/chatroom/${chatNo}`)).body.chatList).to.have.length(3);
    // A repeated message is stored already.
    expect((await client.send(chatNo, 'one', 'client-id')).message.id).to.equal(first.message.id);
    expect((await client.send(chatNo, 'six', 'another')).status).to.equal(429);
    expect(await metric(service.http, 'adoption_limit_hits_total{limit="messages-per-day"}')).to.be.above(2);
    // Another member of the same room.
    const author = service.as(await service.token('author@example.org'));
    const answer = await author.post('/chatroom/notification', push(chatNo, service.saleNo, 'still here'));
    expect(answer.status).to.equal(200);
  });

  it('do not count a repeated message', async () => {
    const { token, rest } = await member();
    const chatNo = await room(rest);
    const client = await connect({ token }, {}, service.gateway);
    const message = push(chatNo, service.saleNo, 'pushed twice', { sendTime: Date.now() });
    for (let i = 0; i < 3; i += 1) {
      expect((await client.send(chatNo, 'sent again', 'client-id')).status).to.equal(200);
      expect((await rest.post('/chatroom/notification', message)).status).to.equal(200);
    }
    expect((await client.send(chatNo, 'the third')).status).to.equal(200);
    expect((await client.send(chatNo, 'the fourth')).status).to.equal(429);
  });

  it('charge the member for whom a caller without a token is taken', async () => {
    const { rest } = await member();
    const chatNo = await room(rest);
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      const message = push(chatNo, service.saleNo, `${i}`, { sendTime: Date.now() + i });
      const agent = { 'User-Agent': `phone of ${chatNo}` };
      await rest.get(`/chatroom/${chatNo}`, agent);
      statuses.push((await service.anyone.post('/chatroom/notification', message, agent)).status);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 429]);
  });

  it('bound articles and comments, and count only what is stored', async () => {
    const { rest } = await member();
    await rest.post('/community/article', { ...article, title: '' });
    for (let i = 0; i < 2; i += 1)
      expect((await rest.post('/community/article', article)).status).to.equal(200);
    expectRefused(await rest.post('/community/article', article), 'more than 2 articles in 24 h');
    const { body } = await rest.get<{ list: { id: number }[] }>('/community/list/recent');
    const boardId = body.list[0]?.id as number;
    const comment = (more: object = {}) =>
      rest.post('/community/comment', { boardId, parentId: 0, context: 'A comment', ...more });
    expect((await comment({ boardId: 999_999 })).status).to.equal(404);
    for (let i = 0; i < 2; i += 1) expect((await comment()).status).to.equal(200);
    expectRefused(await comment(), 'more than 2 comments in 24 h');
    expect((await (await member()).rest.post('/community/article', article)).status).to.equal(200);
  });

  it('are lifted by RATE_LIMIT=off, as are other limits of number', async () => {
    const limits = {
      SEARCHES_AT_ONCE: '1',
      ARTICLE_COMMENTS: '1',
      SOCKET_CONNECTIONS: '10',
      HTTP_CONNECTIONS: '10',
    };
    const unlimited = await startServiceProcess({ ...SETTINGS, ...limits, RATE_LIMIT: 'off' });
    const { token, rest } = await member(unlimited);
    for (let i = 0; i < 4; i += 1)
      expect((await rest.post('/community/article', article)).status).to.equal(200);
    const listed = await rest.get<{ list: { id: number }[] }>('/community/list/recent');
    const comment = { boardId: listed.body.list[0]?.id, parentId: 0, context: 'A comment' };
    for (let i = 0; i < 3; i += 1)
      expect((await rest.post('/community/comment', comment)).status).to.equal(200);
    const search = '/community/list/recent?keyword=text&option=2';
    const searches = await Promise.all(Array.from({ length: 20 }, () => rest.get(search)));
    expect(searches.map(({ status }) => status)).to.deep.equal(searches.map(() => 200));
    const streams = [];
    for (let i = 0; i < 12; i += 1) streams.push(await openStream({ token }, { base: unlimited.http }));
    await Promise.all(Array.from({ length: 12 }, () => connect({ token }, {}, unlimited.gateway)));
    const metrics = await (await fetch(`${unlimited.http}/metrics`)).text();
    expect(metrics).to.match(/^adoption_event_streams_open\{.*\} 12$/m);
    await unlimited.stop();
  });
});
