import { expect } from 'chai';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { connect } from '../support/sockets.js';

/** The documented push, as the legacy client sends it: without an Authorization header. */
function push(service: ServiceProcess, chatNo: number, agent: string, more: Record<string, unknown> = {}) {
  return service.call<{ senderNo: number; message: string }>(
    'POST',
    '/chatroom/notification',
    {
      id: null,
      chatNo,
      contentType: 'text',
      content: `from ${agent}`,
      senderName: null,
      senderNo: null,
      saleNo: service.saleNo,
      sendTime: Date.now(),
      readCount: null,
      senderEmail: null,
      ...more,
    },
    { 'User-Agent': agent },
  );
}

/** A room of asker@example.org and the author; the caller is seen under this User-Agent. */
async function room(service: ServiceProcess, agent: string): Promise<{ chatNo: number; askerNo: number }> {
  const headers = { Authorization: await service.token('asker@example.org'), 'User-Agent': agent };
  await service.call(
    'POST',
    '/chatroom',
    { saleNo: service.saleNo, createMember: service.authorNo },
    headers,
  );
  const { body } = await service.call<{ chatNo: number; joinMember: number }[]>(
    'GET',
    '/chatroom',
    undefined,
    headers,
  );
  return { chatNo: body[0]?.chatNo as number, askerNo: body[0]?.joinMember as number };
}

async function stop(service: ServiceProcess): Promise<void> {
  expect(service.errors()).to.deep.equal([]);
  expect(await service.stop(), 'exit status').to.equal(0);
}

describe('other settings', () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess({
      TRUST_PROXY: '1',
      METRICS_TOKEN: 'operators only',
      RATE_LIMIT: 'on',
    });
  });
  after(() => stop(service));

  it('TRUST_PROXY tells clients behind a proxy apart by what the proxy saw', async () => {
    const { chatNo } = await room(service, 'agent');
    const from = (address: string) =>
      service.call(
        'POST',
        '/chatroom/notification',
        { id: null, chatNo, contentType: 'text', content: address },
        { 'User-Agent': 'agent', 'X-Forwarded-For': address },
      );
    expect((await from('203.0.113.9')).status).to.equal(401);
    await service.call('GET', '/chatroom', undefined, {
      Authorization: await service.token('asker@example.org'),
      'User-Agent': 'agent',
      'X-Forwarded-For': '6.6.6.6, 203.0.113.9',
    });
    expect((await from('203.0.113.9')).status).to.equal(200);
    expect((await from('6.6.6.6')).status).to.equal(401);
  });

  it('METRICS_TOKEN guards the figures on both ports', async () => {
    for (const base of [service.http, service.gateway]) {
      for (const Authorization of ['', 'operators only', 'Bearer operators onlx', 'Bearer operators only ']) {
        const answer = await fetch(`${base}/metrics`, { headers: { Authorization } });
        const isRight = Authorization.trim() === 'Bearer operators only';
        expect(answer.status, `${base} ${Authorization}`).to.equal(isRight ? 200 : 401);
      }
    }
  });

  it('RATE_LIMIT=on answers 429 with Retry-After, on sockets with a time, and leaves others alone', async () => {
    const { chatNo } = await room(service, 'seen');
    const token = await service.token('asker@example.org');
    const client = await connect({ token }, {}, service.gateway);
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        client.ask<{ message: unknown; retryAfterMs?: number }>('message:send', {
          chatNo,
          contentType: 'text',
          content: `${i}`,
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(50);
    expect(refused[0]).to.include({ message: 'RATE_LIMITED' });
    expect(refused[0]?.retryAfterMs).to.be.within(1, 5_000);
    expect(client.socket.connected).to.equal(true);
    // Every way of sending is one budget: what the socket has used up, the push has not either.
    const pushed = await service.call(
      'POST',
      '/chatroom/notification',
      { id: null, chatNo, contentType: 'text', content: 'x' },
      { Authorization: token },
    );
    expect(pushed.status).to.equal(429);
    expect(pushed.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
    expect(Number(pushed.headers.get('retry-after'))).to.be.within(1, 5);
    expect(pushed.body).to.include({ status: 429, message: 'RATE_LIMITED' });
    const other = await connect({ token: await service.token('author@example.org') }, {}, service.gateway);
    expect(
      await other.ask('message:send', { chatNo, contentType: 'text', content: 'still here' }),
    ).to.include({ status: 200 });
  });

  it('RATE_LIMIT=on closes the oldest of more than fifty sockets of one member', async () => {
    const token = await service.token('many@example.org');
    const first = await connect({ token }, {}, service.gateway);
    await Promise.all(Array.from({ length: 50 }, () => connect({ token }, {}, service.gateway)));
    expect(await first.next('closing')).to.include({ code: 'TOO_MANY_CONNECTIONS', reconnect: false });
  });
});

describe('settings of messages without a token', () => {
  let service: ServiceProcess;
  afterEach(() => stop(service));

  it('LEGACY_ANONYMOUS=off demands a token for a push, also of a client that was just seen', async () => {
    service = await startServiceProcess({ LEGACY_ANONYMOUS: 'off' });
    const { chatNo } = await room(service, 'seen');
    expect((await push(service, chatNo, 'seen')).status).to.equal(401);
    const cookie = { Cookie: `session=${await service.token('asker@example.org')}` };
    const body = { id: null, chatNo, contentType: 'text', content: 'x' };
    expect((await service.call('POST', '/chatroom/notification', body, cookie)).status).to.equal(401);
    const token = { Authorization: await service.token('asker@example.org') };
    expect((await service.call('POST', '/chatroom/notification', body, token)).status).to.equal(200);
  });

  it('LEGACY_ANONYMOUS=open believes the participant that the payload names, and nobody else', async () => {
    service = await startServiceProcess({ LEGACY_ANONYMOUS: 'open', LOG_LEVEL: 'warn' });
    expect(service.warnings().join()).to.include('may write as any participant');
    const { chatNo, askerNo } = await room(service, 'seen');
    expect((await push(service, chatNo, 'stranger', { senderNo: askerNo })).body).to.include({
      senderNo: askerNo,
    });
    const byAddress = await push(service, chatNo, 'stranger', { senderEmail: 'Author@example.org' });
    expect(byAddress.body).to.include({ senderNo: service.authorNo });
    expect((await push(service, chatNo, 'stranger')).status, 'nobody is named').to.equal(401);
    const outsider = await service.token('outsider@example.org');
    await service.call('GET', '/chatroom', undefined, { Authorization: outsider });
    expect((await push(service, chatNo, 'x', { senderEmail: 'outsider@example.org' })).status).to.equal(401);
  });
});
