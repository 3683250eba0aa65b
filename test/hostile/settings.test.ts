import { expect } from 'chai';
import { push } from '../support/chat.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { connect } from '../support/sockets.js';

const ASKER = 'asker@example.org';

/** A room of the asker, or another member, and the author; the asker is seen under this User-Agent. */
async function openRoom(
  service: ServiceProcess,
  agent: string,
  email = ASKER,
): Promise<{ chatNo: number; askerNo: number }> {
  const asker = service.as(await service.token(email));
  const headers = { 'User-Agent': agent };
  await asker.post('/chatroom', { saleNo: service.saleNo, createMember: service.authorNo }, headers);
  const { body } = await asker.get<{ chatNo: number; joinMember: number }[]>('/chatroom', headers);
  return { chatNo: body[0]?.chatNo as number, askerNo: body[0]?.joinMember as number };
}

async function stop(service: ServiceProcess): Promise<void> {
  expect(service.errors()).to.deep.equal([]);
  expect(await service.stop(), 'exit status').to.equal(0);
}

describe('settings', () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess({
      TRUST_PROXY: '1',
      METRICS_TOKEN: 'operators only',
      RATE_LIMIT: 'on',
    });
  });
  after(() => stop(service));

  it('TRUST_PROXY tells clients behind a proxy apart by the address that the proxy saw', async () => {
    const { chatNo } = await openRoom(service, 'agent');
    const by = (forwarded: string) => ({ 'User-Agent': 'agent', 'X-Forwarded-For': forwarded });
    const pushFrom = async (address: string) => {
      const message = push(chatNo, service.saleNo, address);
      return (await service.anyone.post('/chatroom/notification', message, by(address))).status;
    };
    expect(await pushFrom('203.0.113.9')).to.equal(401);
    await service.as(await service.token(ASKER)).get('/chatroom', by('6.6.6.6, 203.0.113.9'));
    expect(await pushFrom('203.0.113.9')).to.equal(200);
    expect(await pushFrom('6.6.6.6')).to.equal(401);
  });

  it('METRICS_TOKEN guards /metrics on both ports', async () => {
    for (const base of [service.http, service.gateway]) {
      const ask = async (Authorization: string) => {
        const { status, headers } = await fetch(`${base}/metrics`, { headers: { Authorization } });
        return [status, headers.get('www-authenticate')];
      };
      for (const wrong of ['operators only', 'Bearer operators onlx'])
        expect(await ask(wrong), wrong).to.deep.equal([
          401,
          'Bearer realm="adoption", error="invalid_token"',
        ]);
      expect(await ask('')).to.deep.equal([401, 'Bearer realm="adoption"']);
      for (const right of ['Bearer operators only', 'Bearer operators only '])
        expect(await ask(right), right).to.deep.equal([200, null]);
    }
  });

  it('11: RATE_LIMIT=on answers 429 with a retry time over REST and sockets, and leaves other members alone', async () => {
    const email = 'busy@example.org';
    const { chatNo } = await openRoom(service, 'seen', email);
    const token = await service.token(email);
    const client = await connect({ token }, {}, service.gateway);
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        client.send<{ message: unknown; retryAfterMs?: number }>(chatNo, `${i}`),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(50);
    expect(refused[0]).to.include({ message: 'RATE_LIMITED' });
    expect(refused[0]?.retryAfterMs).to.be.within(1, 5_000);
    expect(client.socket.connected).to.equal(true);
    // Sockets and REST share the budget of a member's messages.
    const message = push(chatNo, service.saleNo, 'x');
    const pushed = await service.as(token).post('/chatroom/notification', message);
    expect(pushed.status).to.equal(429);
    expect(pushed.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
    expect(Number(pushed.headers.get('retry-after'))).to.be.within(1, 5);
    expect(pushed.body).to.include({ status: 429, message: 'RATE_LIMITED' });
    // So do pushes without a token, of whoever is found to send them.
    const caller = { 'User-Agent': 'seen', 'X-Forwarded-For': '198.51.100.30' };
    await service.as(token).get('/chatroom', caller);
    const withoutToken = await service.anyone.post('/chatroom/notification', message, caller);
    expect(withoutToken.status).to.equal(429);
    const other = await connect({ token: await service.token('author@example.org') }, {}, service.gateway);
    expect(await other.send(chatNo, 'still here')).to.include({ status: 200 });
  });

  it('11: RATE_LIMIT=on closes the oldest of more than fifty sockets of one member', async () => {
    const token = await service.token('many@example.org');
    const first = await connect({ token }, {}, service.gateway);
    await Promise.all(Array.from({ length: 50 }, () => connect({ token }, {}, service.gateway)));
    expect(await first.next('closing')).to.include({ code: 'TOO_MANY_CONNECTIONS', reconnect: false });
  });
});

describe('settings for messages without a token', () => {
  let service: ServiceProcess;
  afterEach(() => stop(service));

  /** Pushes as the legacy client does: without an Authorization header. */
  const pushAs = (agent: string, chatNo: number, more: Record<string, unknown> = {}) =>
    service.anyone.post('/chatroom/notification', push(chatNo, service.saleNo, `from ${agent}`, more), {
      'User-Agent': agent,
    });

  it('LEGACY_ANONYMOUS=off requires a token for a push, also from a client that was just seen', async () => {
    service = await startServiceProcess({ LEGACY_ANONYMOUS: 'off' });
    const { chatNo } = await openRoom(service, 'seen');
    expect((await pushAs('seen', chatNo)).status).to.equal(401);
    const token = await service.token(ASKER);
    const message = push(chatNo, service.saleNo, 'x');
    const byCookie = { Cookie: `session=${token}` };
    expect((await service.anyone.post('/chatroom/notification', message, byCookie)).status).to.equal(401);
    const stored = await service.as(token).post<{ id: string }>('/chatroom/notification', message);
    expect(stored.status).to.equal(200);
    const { id } = stored.body;
    expect((await pushAs('seen', chatNo, { id })).body).to.include({ message: 'UNAUTHORIZED' });
    expect((await pushAs('seen', chatNo, { id: `${id}x` })).status).to.equal(401);
    const echo = { ...message, id };
    expect((await service.as(token).post('/chatroom/notification', echo)).body).to.include({ id });
  });

  it('LEGACY_ANONYMOUS=open believes the participant that the payload names, and only participants', async () => {
    service = await startServiceProcess({ LEGACY_ANONYMOUS: 'open', LOG_LEVEL: 'warn' });
    expect(service.warnings().join()).to.include('may write as any participant');
    const { chatNo, askerNo } = await openRoom(service, 'seen');
    const byNumber = await pushAs('stranger', chatNo, { senderNo: askerNo });
    expect(byNumber.body).to.include({ senderNo: askerNo });
    const byAddress = await pushAs('stranger', chatNo, { senderEmail: 'Author@example.org' });
    expect(byAddress.body).to.include({ senderNo: service.authorNo });
    expect((await pushAs('stranger', chatNo)).status, 'no sender is named').to.equal(401);
    await service.as(await service.token('outsider@example.org')).get('/chatroom');
    expect((await pushAs('x', chatNo, { senderEmail: 'outsider@example.org' })).status).to.equal(401);
  });
});
