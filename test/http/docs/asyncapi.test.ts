import { expect } from 'chai';
import { clientEvents } from '../../../gateway/events/index.js';
import { pushes, requests } from '../../../gateway/protocol.js';
import { asyncApi, expectMessage, expectValid } from '../../support/api-documents.js';
import { refusal } from '../../support/sockets.js';

const { messages } = asyncApi.channels.socket;

function titles(action: 'send' | 'receive'): string[] {
  return Object.values(asyncApi.operations)
    .filter((operation) => operation.action === action && operation.channel.$ref.endsWith('socket'))
    .map(({ title }) => title);
}

describe('/asyncapi.json', () => {
  it('holds every event in both directions', () => {
    expect(titles('receive')).to.deep.equal(Object.keys(requests));
    expect(titles('send')).to.deep.equal([...Object.keys(pushes), 'connect_error']);
    expect(clientEvents.map(({ event }) => event)).to.deep.equal(Object.keys(requests));
  });

  it('names what each event carries, and is acknowledged with', () => {
    const named = (schema: object) =>
      (schema as { $ref?: string }).$ref?.replace('#/components/schemas/', '');
    const names = Object.values(messages).flatMap(({ payload }) => {
      const { oneOf = [payload] } = payload as { oneOf?: object[] };
      return oneOf.map(named);
    });
    expect(names).to.not.include(undefined);
    expect(names).to.include.members([
      ...['RoomJoinRequest', 'RoomJoinSuccess', 'MessageSendRequest', 'MessageSendSuccess', 'ErrorAck'],
      ...['MessageReadRequest', 'MessageReadSuccess', 'TypingRequest', 'TypingSuccess', 'TypingEvent'],
    ]);
    for (const name of names)
      expect(asyncApi.components.schemas[name ?? '']?.description, name).to.be.a('string');
  });

  it('has no broken references', () => {
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

  it('describes a refused connection', async () => {
    const { message, data } = await refusal({ auth: { token: 'nonsense' } });
    expectMessage('server.connect_error', { message, data });
  });
});
