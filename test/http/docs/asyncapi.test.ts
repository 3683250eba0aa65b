import { expect } from 'chai';
import { listCloseReasons } from '../../../gateway/close-reasons.js';
import { clientEvents } from '../../../gateway/events/index.js';
import type { ClientEvents, ServerEvents } from '../../../gateway/protocol.js';
import { buildAsyncApi } from '../../../http/docs/asyncapi.js';
import { member } from '../../support/api.js';
import { openRoom } from '../../support/chat.js';
import { connect, refusal } from '../../support/sockets.js';
import { asyncApi, expectValid, sockets } from './documents.js';

/** Every event there is: one that is added to the protocol does not compile before it is added here. */
const sent: Record<keyof ClientEvents, true> = {
  'room:join': true,
  'room:leave': true,
  'message:send': true,
  'message:read': true,
  typing: true,
  'auth:refresh': true,
};
const received: Record<keyof ServerEvents, true> = {
  message: true,
  'message:read': true,
  typing: true,
  presence: true,
  room: true,
  notification: true,
  drain: true,
  'auth:expiring': true,
  closing: true,
};

const { messages } = asyncApi.channels.socket;

function titles(action: 'send' | 'receive'): string[] {
  return Object.values(asyncApi.operations)
    .filter((operation) => operation.action === action && operation.channel.$ref.endsWith('socket'))
    .map(({ title }) => title);
}

/** Fails unless a payload is as documented for a message such as `server.room` or `room.join.ack`. */
function expectMessage(key: string, payload: unknown): void {
  const message = messages[key];
  if (!message) throw new Error(`no such message: ${key}`);
  expectValid('sockets', message.payload, payload, key);
}

describe('/asyncapi.json', () => {
  it('holds every event in both directions', () => {
    expect(titles('receive')).to.deep.equal(Object.keys(sent));
    expect(titles('send')).to.deep.equal([...Object.keys(received), 'connect_error']);
    expect(clientEvents.map(({ event }) => event)).to.deep.equal(Object.keys(sent));
  });

  it('has references that lead somewhere', () => {
    const references = [...JSON.stringify(asyncApi).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(references.length).to.be.greaterThan(20);
    for (const [, path = ''] of references) {
      const target = path
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], asyncApi);
      expect(target, path).to.be.an('object');
    }
  });

  it('has examples that its own schemas accept', () => {
    for (const channel of Object.values(asyncApi.channels)) {
      for (const [key, { payload, examples }] of Object.entries(channel.messages)) {
        expect(examples, key).to.not.be.empty;
        for (const example of examples) expectValid('sockets', payload, example.payload, key);
      }
    }
  });

  it('has example requests that the gateway accepts', () => {
    for (const { event, schema } of clientEvents) {
      const [example] = messages[event.replace(':', '.')]?.examples ?? [];
      expect(schema.safeParse(example?.payload).success, event).to.equal(true);
    }
  });

  it('cannot be built when an event and its description part ways', () => {
    expect(() => buildAsyncApi({ ...sockets, events: clientEvents.slice(1) })).to.throw('not served');
    const [first] = clientEvents;
    if (!first) throw new Error('there are no events');
    const extra = { event: 'room:paint', schema: first.schema };
    expect(() => buildAsyncApi({ ...sockets, events: [...clientEvents, extra] })).to.throw('not documented');
  });

  it('describes what really goes over the wire', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [there, here] = [await connect(author), await connect(asker)];
    expectMessage('room.join.ack', await there.ask('room:join', { chatNo }));
    expectMessage('room.join.ack', await here.ask('room:join', { chatNo }));
    expectMessage('server.presence', await there.next('presence'));
    here.socket.emit('typing', { chatNo, typing: true });
    expectMessage('server.typing', await there.next('typing'));
    const text = { chatNo, contentType: 'text', content: 'Hello' };
    expectMessage('message.send.ack', await here.ask('message:send', text));
    expectMessage('message.send.ack', await here.ask('message:send', { ...text, content: '' }));
    expectMessage('server.message', await there.next('message'));
    expectMessage('server.room', await there.next('room'));
    expectMessage('room.leave.ack', await there.ask('room:leave', { chatNo }));
    await here.ask('message:send', { ...text, content: 'Are you there?' });
    expectMessage('server.notification', await there.next('notification'));
    expectMessage('message.read.ack', await there.ask('message:read', { chatNo, seq: 2 }));
    expectMessage(
      'server.message.read',
      await here.next('message:read', ({ seq }: { seq: number }) => seq === 2),
    );
    const stranger = await connect(await member());
    expectMessage('room.join.ack', await stranger.ask('room:join', { chatNo }));
    expectMessage('auth.refresh.ack', await stranger.ask('auth:refresh', { token: 'nonsense' }));
    expectMessage('auth.refresh.ack', await stranger.ask('auth:refresh', { token: asker.token }));
    const closing = await stranger.next<{ code: string }>('closing');
    expectMessage('server.closing', closing);
    expect(listCloseReasons().map(({ code }) => code)).to.include(closing.code);
    const { message, data } = await refusal({ auth: { token: 'nonsense' } });
    expectMessage('server.connect_error', { message, data });
  });
});
