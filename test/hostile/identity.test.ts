import { expect } from 'chai';
import { push } from '../support/chat.js';
import type { RestClient } from '../support/rest.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { type Client, connect } from '../support/sockets.js';

const EVIL = 'https://evil.example';

/** Calls without a token, from a client that only its User-Agent tells from others: all come from one address. */
describe('a caller without a token', () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess({ CORS_ORIGINS: '*', LOG_LEVEL: 'warn' });
  });
  after(async () => {
    expect(service.errors()).to.deep.equal([]);
    expect(await service.stop()).to.equal(0);
  });

  let counter = 0;

  /** A room of a new member and the author of the post, opened from a client that no test uses. */
  async function openRoom() {
    counter += 1;
    const email = `asker-${counter}@example.org`;
    const token = await service.token(email);
    const elsewhere = { 'User-Agent': `elsewhere ${counter}` };
    const asker: RestClient = service.as(token);
    await asker.post('/chatroom', { saleNo: service.saleNo, createMember: service.authorNo }, elsewhere);
    const { body } = await asker.get<{ chatNo: number; joinMember: number }[]>('/chatroom', elsewhere);
    const [{ chatNo, joinMember: askerNo }] = body as [{ chatNo: number; joinMember: number }];
    const path = `/chatroom/${chatNo}`;
    return { email, token, asker, askerNo, chatNo, path, agent: `phone ${counter}` };
  }

  let sendTime = Date.now();

  /** Pushes as the legacy client does. */
  function pushFrom(agent: string, chatNo: number, headers: Record<string, string> = {}, more: object = {}) {
    sendTime += 1;
    return service.anyone.post<{ id: string; senderNo: number; senderName: string; senderEmail: string }>(
      '/chatroom/notification',
      push(chatNo, service.saleNo, `message ${sendTime}`, { sendTime, ...more }),
      { 'User-Agent': agent, ...headers },
    );
  }

  const forwarding = {
    'X-Forwarded-For': '203.0.113.7',
    Forwarded: 'for=203.0.113.7',
    'X-Real-IP': '203.0.113.7',
  };
  for (const [name, value] of Object.entries(forwarding)) {
    it(`is nobody where a proxy that TRUST_PROXY does not count sends ${name}`, async () => {
      const { asker, path, chatNo, agent } = await openRoom();
      await asker.get(path, { 'User-Agent': agent, [name]: value });
      expect((await pushFrom(agent, chatNo)).status, 'the proxy is not the member').to.equal(401);
      await asker.get(path, { 'User-Agent': agent });
      expect((await pushFrom(agent, chatNo, { [name]: value })).status).to.equal(401);
      expect((await pushFrom(agent, chatNo)).status).to.equal(200);
    });
  }

  it('behind such a proxy is logged once, with the remedy', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    const { token, path, asker } = await openRoom();
    for (let i = 0; i < 3; i += 1) await asker.get(path, headers);
    await connect({ token }, { extraHeaders: headers }, service.gateway);
    const lines = service.warnings().filter((line) => line.includes('proxy'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('Set TRUST_PROXY to the number of proxies in front');
    expect(lines[0]).not.to.include('203.0.113.7');
  });

  it('is not the member who used a token on a foreign page, though CORS_ORIGINS allows every origin', async () => {
    const { asker, token, path, chatNo, agent } = await openRoom();
    const headers = { 'User-Agent': agent, Origin: EVIL };
    const answer = await asker.get(path, headers);
    expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([200, null]);
    await asker.get('/chatroom', headers);
    const socket = await connect({ token }, { extraHeaders: headers }, service.gateway);
    await socket.join(chatNo);
    expect((await pushFrom(agent, chatNo)).status).to.equal(401);
    await asker.get(path, { 'User-Agent': agent });
    expect((await pushFrom(agent, chatNo, { Origin: EVIL })).status).to.equal(401);
    expect((await pushFrom(agent, chatNo)).status).to.equal(200);
  });

  const opened: Record<string, (room: Awaited<ReturnType<typeof openRoom>>) => Promise<unknown>> = {
    'listed all rooms': ({ asker, agent }) => asker.get('/chatroom', { 'User-Agent': agent }),
    'listed the rooms of the post': ({ asker, agent }) =>
      asker.get(`/chatroom?saleNo=${service.saleNo}`, { 'User-Agent': agent }),
    'listed its messages': ({ asker, path, agent }) => asker.get(path, { 'User-Agent': agent }),
    'opened it again': ({ asker, agent }) =>
      asker.post(
        '/chatroom',
        { saleNo: service.saleNo, createMember: service.authorNo },
        { 'User-Agent': agent },
      ),
    'joined it by socket': async ({ token, chatNo, agent }) => {
      const options = { extraHeaders: { 'User-Agent': agent } };
      await (await connect({ token }, options, service.gateway)).join(chatNo);
    },
    'pushed into it with a token': ({ asker, chatNo, agent }) =>
      asker.post('/chatroom/notification', push(chatNo, service.saleNo, 'mine'), { 'User-Agent': agent }),
  };
  for (const [name, open] of Object.entries(opened)) {
    it(`pushes into a room only once the same client has ${name}`, async () => {
      const room = await openRoom();
      const { asker, askerNo, chatNo, agent } = room;
      const other = { 'User-Agent': agent };
      await asker.get('/notification/all', other);
      await asker.get('/chatroom?saleNo=99999999', other);
      await connect({ token: room.token }, { extraHeaders: other }, service.gateway);
      expect((await pushFrom(agent, chatNo)).status, 'seen, but without the room').to.equal(401);
      await open(room);
      expect((await pushFrom(agent, chatNo)).body.senderNo).to.equal(askerNo);
    });
  }

  it('is told no address but one that it sent', async () => {
    const { asker, askerNo, email, token, path, chatNo, agent } = await openRoom();
    await asker.get(path, { 'User-Agent': agent });
    const first = await pushFrom(agent, chatNo);
    expect(first.body).to.include({ senderNo: askerNo, senderName: email.split('@')[0], senderEmail: '' });
    const emailOf = async (headers: Record<string, string>, more: object) =>
      (await pushFrom(agent, chatNo, headers, more)).body.senderEmail;
    expect(await emailOf({}, { senderNo: askerNo })).to.equal('');
    expect(await emailOf({}, { senderEmail: email.toUpperCase() })).to.equal(email);
    expect(await emailOf({ Cookie: `session=${token}` }, {})).to.equal(email);
    expect(await emailOf({ Authorization: token }, {})).to.equal(email);
    // Posted back, with and without its id.
    const { id } = first.body;
    expect(await emailOf({}, { id })).to.equal('');
    expect(await emailOf({}, { id, senderEmail: 'author@example.org' })).to.equal('');
    expect(await emailOf({}, { id, senderEmail: email })).to.equal(email);
    expect(await emailOf({}, { ...first.body, id: null })).to.equal('');
  });

  it('21: gets one answer from the disconnect call, whoever takes part in the room', async () => {
    const { asker, token, askerNo, email, path, chatNo, agent } = await openRoom();
    const watcher = await connect({ token: await service.token('author@example.org') }, {}, service.gateway);
    await watcher.join(chatNo);
    const member: Client = await connect({ token }, {}, service.gateway);
    await member.join(chatNo);
    await asker.get(path, { 'User-Agent': agent });
    const leave = async (headers: Record<string, string>, to: string, address: string) => {
      const answer = await service.anyone.post(to, { email: address }, headers);
      expect([answer.status, answer.text], `${to} ${address}`).to.deep.equal([200, '{"status":200}\n']);
    };
    const third = await service.token('third@example.org');
    await service.as(third).get('/chatroom', { 'User-Agent': 'of a third' });
    const callers: Record<string, string>[] = [
      { 'User-Agent': 'a stranger' },
      { 'User-Agent': 'of a third' },
      { 'User-Agent': 'of a third', Cookie: `session=${third}` },
      { 'User-Agent': agent, Origin: EVIL, Cookie: `session=${token}` },
      { 'User-Agent': agent, Forwarded: 'for=203.0.113.7' },
    ];
    for (const headers of callers) {
      for (const to of [path, '/chatroom/99999999']) {
        for (const address of [email, 'author@example.org', 'third@example.org', 'nobody@example.org'])
          await leave(headers, to, address);
      }
    }
    // The participant, too, learns nothing of other rooms and addresses.
    for (const [to, address] of [
      ['/chatroom/99999999', email],
      [path, 'nobody@example.org'],
      [path, 'third@example.org'],
    ] as const) {
      await leave({ 'User-Agent': agent }, to, address);
    }
    expect((await watcher.join<{ present: number[] }>(chatNo)).present).to.include(askerNo);
    await leave({ 'User-Agent': agent }, path, email);
    await watcher.next('presence', (e: { memberNo: number; present: boolean }) => !e.present);
  });
});
