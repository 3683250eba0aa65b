import { mock } from 'node:test';
import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import { engineName } from '../../support/engine.js';
import { eventually } from '../../support/eventually.js';
import { connect } from '../../support/sockets.js';
import { joinRaw, type LoneGateway, startGateway, stopGateways } from '../gateway-alone.js';

const TYPING = '42["typing",{"chatNo":1,"memberNo":8,"typing":true}]';

const isRun = (await engineName) === 'uws';

// Where there is no binary, the other engine's tests run.
(isRun ? describe : () => {})('the engine uws', () => {
  let lone: LoneGateway;
  afterEach(async () => {
    mock.restoreAll();
    await stopGateways();
  });

  it('publishes to WebSockets without the adapter while nobody uses long-polling', async () => {
    lone = await startGateway();
    const broadcast = mock.method(Adapter.prototype, 'broadcast');
    const raw = await joinRaw(lone);
    lone.gateway.live.typing(1, 8, true);
    await eventually(() => expect(raw.heard.at(-1)).to.equal(TYPING));
    expect(broadcast.mock.callCount()).to.equal(0);
    raw.socket.destroy();
  });

  it('sends long-polling sockets the same events, and WebSockets the same frames, through the adapter', async () => {
    lone = await startGateway();
    const client = await connect({ token: 'member-7' }, { transports: ['polling'] }, lone.base);
    await client.join(1);
    const broadcast = mock.method(Adapter.prototype, 'broadcast');
    const raw = await joinRaw(lone);
    lone.gateway.live.typing(1, 8, true);
    await eventually(() => expect(raw.heard.at(-1)).to.equal(TYPING));
    expect(await client.next('typing')).to.deep.equal({ chatNo: 1, memberNo: 8, typing: true });
    expect(broadcast.mock.callCount()).to.be.greaterThan(0);
    // A closed or upgraded client no longer counts.
    client.socket.disconnect();
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(1));
    const { socket } = await connect(
      { token: 'member-8' },
      { transports: ['polling', 'websocket'] },
      lone.base,
    );
    await eventually(() => expect(socket.io.engine.transport.name).to.equal('websocket'));
    await eventually(() => {
      const before = broadcast.mock.callCount();
      lone.gateway.live.typing(1, 8, true);
      expect(broadcast.mock.callCount()).to.equal(before);
    });
    raw.socket.destroy();
  });

  it('sends acknowledgements without Socket.IO’s own `packet`', async () => {
    lone = await startGateway();
    const client = await connect({ token: 'member-7' }, {}, lone.base);
    const [socket] = [...lone.io.of('/').sockets.values()];
    const direct = mock.method(socket as never as { packet(): void }, 'packet');
    expect(await client.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    expect(direct.mock.callCount(), 'sent directly').to.equal(0);
  });

  it('encodes a message once, for its room and for its sender', async () => {
    lone = await startGateway();
    const payload = { chatNo: 1, seq: 1, sendTime: 1, text: { toJSON: mock.fn(() => 'text') } };
    Object.assign(lone.domain.chat, {
      async sendMessage() {
        lone.gateway.live.message(payload as never);
        return payload;
      },
    });
    const raw = await joinRaw(lone);
    raw.send('425["message:send",{"chatNo":1,"contentType":"text","content":"text"}]');
    const json = '{"chatNo":1,"seq":1,"sendTime":1,"text":"text"}';
    expect(await raw.next(/^435/)).to.equal(`435[{"status":200,"message":${json}}]`);
    expect(raw.heard).to.include(`42["message",${json}]`);
    expect(payload.text.toJSON.mock.callCount()).to.equal(1);
    raw.socket.destroy();
  });

  it('keeps no response of a handshake', async () => {
    lone = await startGateway();
    await connect({ token: 'member-7' }, {}, lone.base);
    const [socket] = [...lone.io.of('/').sockets.values()];
    const { transport } = (socket as { conn: unknown }).conn as {
      transport: { socket: { getUserData(): object } };
    };
    expect(transport.socket.getUserData()).to.have.property('response', undefined);
  });
});
