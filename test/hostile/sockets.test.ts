import { expect } from 'chai';
import { call, type Member, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { eventually } from '../support/eventually.js';
import { breakOff, rawRequest } from '../support/raw-connection.js';
import { handshakeRequest, rawSocket } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { connect, openSockets, refusal } from '../support/sockets.js';

describe('sockets of hostile and broken clients', () => {
  let me: Member;
  beforeEach(async () => {
    me = await member();
  });

  it('1: that disconnect during the handshake, a thousand times, leave nothing behind', async () => {
    const { gateway } = await service();
    const before = await openSockets();
    const handshake = handshakeRequest();
    const requests = Array.from({ length: 50 }, (_, i) => handshake.slice(0, i % 3 === 0 ? 40 : undefined));
    for (let batch = 0; batch < 20; batch += 1) await breakOff(gateway, requests);
    await eventually(async () => expect(await openSockets()).to.equal(before));
    await connect(me);
  });

  const packets: [what: string, packet: string][] = [
    ['an unknown engine packet type', '9'],
    ['an unknown packet type', '49'],
    ['half JSON', '42["message:send",{"chatNo":1'],
    ['no event', '42[]'],
    ['an event that is no text', '42[{"a":1}]'],
    ['an event that is a number', '42[7]'],
    ['no array', '42{"a":1}'],
    ['a binary header without attachments', '451-["message:send",{"_placeholder":true,"num":0}]'],
    ['a binary header with a million attachments', '451000000-["x"]'],
    ['an acknowledgement number beyond counting', '4299999999999999999999["room:join",{"chatNo":1}]'],
    ['an acknowledgement nobody asked for', '4312345["x"]'],
    ['a reserved event: connect', '42["connect"]'],
    ['a reserved event: disconnect', '42["disconnect"]'],
    ['a reserved event: disconnecting', '42["disconnecting"]'],
    ['a reserved event: error', '42["error",{"message":"x"}]'],
    ['a reserved event: newListener', '42["newListener"]'],
    ['__proto__ as an event', '42["__proto__",{"polluted":1}]'],
    ['__proto__ in a payload', '421["typing",{"__proto__":{"chatNo":1,"typing":true}}]'],
    ['constructor as an event', '42["constructor"]'],
    ['another namespace', '40/admin,{"token":"x"}'],
    ['a connect twice', '40{"token":"x"}'],
    ['deep nesting', `42["message:send",${'['.repeat(50_000)}${']'.repeat(50_000)}]`],
    ['nothing at all', ''],
    ['a client’s ping', '2'],
    ['an upgrade', '5'],
  ];
  for (const [what, packet] of packets) {
    it(`9: that send ${what} are ignored, answered or closed, and others are unaffected`, async () => {
      const { author, asker, chatNo } = await openRoom();
      const bystander = await connect(author);
      await bystander.join(chatNo);
      const { socket, send, next, closed } = await rawSocket((await service()).gateway);
      send(`40${JSON.stringify({ token: asker.token })}`);
      await next(/^40\{"sid"/);
      send(packet);
      send(`4277["room:join",{"chatNo":${chatNo}}]`);
      // The socket is either closed or still served.
      await Promise.race([closed, next(/^4377\[\{"status":200/)]);
      socket.destroy();
      await closed;
      expect(await bystander.join(chatNo)).to.include({ status: 200 });
      expect((await call('/healthz')).status).to.equal(200);
      expect({}).not.to.have.property('polluted');
    });
  }

  it('10: that send more than a frame may hold are closed; texts up to the limit are stored', async () => {
    const { asker, chatNo } = await openRoom();
    const client = await connect(asker);
    const send = (content: string) => client.send<{ message: unknown }>(chatNo, content);
    expect(await send('x'.repeat(4_999))).to.include({ status: 200 });
    // The longest on the wire: each of these characters is six bytes of JSON.
    expect(await send(`x${'\u0001'.repeat(4_998)}x`)).to.include({ status: 200 });
    expect(await send('x'.repeat(5_001))).to.include({ status: 400, message: 'INVALID_INPUT' });
    expect(client.socket.connected).to.equal(true);
    const closed = new Promise((resolve) => client.socket.once('disconnect', resolve));
    client.socket.emit('message:send', { chatNo, contentType: 'text', content: 'x'.repeat(200_000) });
    await closed;
    await connect(asker);
  });

  it('4: of foreign pages are refused; those of no page and of allowed pages are accepted', async () => {
    const { gateway } = await service();
    const ask = (origin: string | undefined, transport: string) =>
      fetch(`${gateway}/socket.io/?EIO=4&transport=${transport}`, {
        headers: origin === undefined ? {} : { Origin: origin },
      });
    for (const origin of ['https://evil.example.org', 'null', 'nonsense', 'http://localhost.evil.org']) {
      const refused = await ask(origin, 'polling');
      expect(refused.status, origin).to.equal(403);
      const error = await refusal({ auth: { token: me.token }, extraHeaders: { Origin: origin } });
      expect(error, origin).to.be.an('error');
    }
    for (const origin of [undefined, 'http://localhost:3000']) {
      expect((await ask(origin, 'polling')).status, origin).to.equal(200);
      await connect(me, origin === undefined ? {} : { extraHeaders: { Origin: origin } });
    }
  });

  it('2: with forged, dead and foreign session ids are refused; live sessions continue', async () => {
    const { gateway } = await service();
    const live = await connect(me, { transports: ['polling'], upgrade: false });
    const sid = live.socket.io.engine.id as string;
    for (const query of [
      'EIO=4&transport=polling&sid=forged',
      'EIO=4&transport=polling&sid=__proto__',
      'EIO=4&transport=polling&sid=constructor',
      'EIO=3&transport=polling',
      'EIO=4&transport=carrier-pigeon',
      'EIO=4',
      `EIO=4&transport=websocket&sid=${sid}`,
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
        const answer = await fetch(`${gateway}/socket.io/?${query}`, {
          method,
          ...(method === 'POST' ? { body: '40' } : {}),
        });
        expect(answer.status, `${method} ${query}`).to.equal(400);
      }
    }
    for (const query of ['EIO=4&transport=websocket&sid=forged', 'EIO=4&transport=websocket&sid=__proto__']) {
      const answer = await rawRequest(gateway, handshakeRequest(query), /\r\n\r\n/);
      expect(answer, query).to.match(/^HTTP\/1\.1 4\d\d/);
    }
    expect((await fetch(`${gateway}/healthz`)).status).to.equal(200);
    // Knowing its id is enough to end a session; others are unaffected.
    await connect(me, { transports: ['polling'], upgrade: false });
  });

  for (const transport of ['polling', 'websocket']) {
    it(`2: that upgrade with the id of a live session by ${transport} leave it unaffected`, async () => {
      const { gateway } = await service();
      const { asker, chatNo } = await openRoom();
      const live = await connect(asker, { transports: [transport], upgrade: false });
      const query = `EIO=4&transport=websocket&sid=${live.socket.io.engine.id}`;
      for (const packet of ['42["room:leave",{"chatNo":1}]', '41', '1', '', 'x']) {
        const stranger = await rawSocket(gateway, query);
        stranger.send(packet);
        await stranger.closed;
      }
      expect(await live.join(chatNo)).to.include({ status: 200 });
      expect(live.socket.connected).to.equal(true);
    });
  }

  it('work over long-polling, and upgrade to a WebSocket', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [polling, upgrading] = await Promise.all([
      connect(asker, { transports: ['polling'], upgrade: false }),
      connect(author, { transports: ['polling', 'websocket'] }),
    ]);
    await Promise.all([polling, upgrading].map((client) => client.join(chatNo)));
    await polling.send(chatNo, 'by polling');
    expect(await upgrading.next<{ content: string }>('message')).to.include({ content: 'by polling' });
    await eventually(() => expect(upgrading.socket.io.engine.transport.name).to.equal('websocket'));
    await upgrading.send(chatNo, 'by websocket');
    expect(
      await polling.next<{ content: string }>('message', ({ content }) => content === 'by websocket'),
    ).to.include({ seq: 2 });
  });

  it('that were refused and connect again are still authenticated by their headers', async () => {
    const { gateway } = await service();
    const { send, next, socket } = await rawSocket(gateway, undefined, [`Authorization: ${me.token}`]);
    send('40{"token":"nonsense"}');
    await next(/^44/);
    send('40');
    await next(/^40\{"sid"/);
    send('421["error",{"message":"x"}]');
    await next(/UNKNOWN_EVENT/);
    socket.destroy();
  });

  it('7: receive `auth:expiring`, stay open with a new token, and are closed without one', async () => {
    const { token } = await service();
    const [prolonged, ended] = await Promise.all(
      [0, 1].map(async () => connect({ token: await token(me.email, { ttl: '2s' }) })),
    );
    if (!prolonged || !ended) throw new Error('not connected');
    const warning = await prolonged.next<{ expiresAt: number }>('auth:expiring');
    expect(warning.expiresAt).to.be.within(Date.now() - 1_000, Date.now() + 3_000);
    const renewed = await prolonged.ask<{ expiresAt: number }>('auth:refresh', { token: me.token });
    expect(renewed.status).to.equal(200);
    expect(renewed.expiresAt).to.be.greaterThan(warning.expiresAt);
    expect(await ended.next('closing')).to.include({ code: 'TOKEN_EXPIRED', reconnect: false });
    await eventually(() => expect(ended.socket.connected).to.equal(false));
    expect(prolonged.socket.connected).to.equal(true);
    for (const bad of ['', 'garbage', 7, null]) {
      expect((await prolonged.ask('auth:refresh', { token: bad })).status).to.be.oneOf([400, 401]);
    }
    expect(prolonged.socket.connected, 'a bad token changes nothing').to.equal(true);
  });

  it('7: are closed when they refresh with the token of another member', async () => {
    const client = await connect(me);
    const other = await member();
    expect(await client.ask('auth:refresh', { token: other.token })).to.include({
      status: 403,
      message: 'FORBIDDEN',
    });
    expect(await client.next('closing')).to.include({ code: 'ANOTHER_MEMBER' });
    await eventually(() => expect(client.socket.connected).to.equal(false));
  });
});
