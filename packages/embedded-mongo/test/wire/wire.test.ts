import { once } from 'node:events';
import { Double, deserialize, Long, serialize } from 'bson';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../src/server.js';
import { MAX_MESSAGE_BYTES } from '../../src/values/bson-types.js';
import { encodeReply } from '../../src/wire/messages.js';
import { nextTurn } from '../support/eventually.js';
import { collectGarbage } from '../support/memory.js';
import {
  flagBits,
  message,
  msg,
  OP_MSG,
  OP_QUERY,
  RawClient,
  sequence,
  writeErrorCode,
} from './raw-client.js';

describe('embedded database: the wire', () => {
  let server: EmbeddedMongo;
  const clients: RawClient[] = [];

  const open = async () => {
    const client = await RawClient.connect(server.port);
    clients.push(client);
    return client;
  };

  before(async () => {
    server = await startEmbeddedMongo({ storage: 'memory' });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.socket.destroy();
  });
  after(() => server.close());

  it('answers the OP_QUERY handshake with OP_REPLY, as a standalone', async () => {
    const client = await open();
    const query = Buffer.concat([
      flagBits(0),
      Buffer.from('admin.$cmd\0'),
      flagBits(0),
      Buffer.from([255, 255, 255, 255]),
      Buffer.from(serialize({ ismaster: 1 })),
    ]);
    client.socket.write(message(OP_QUERY, query, 41));
    const reply = await client.reply();
    expect(reply).to.include({ opCode: 1, responseTo: 41 });
    expect(reply?.body).to.include({ ismaster: true, ok: 1, maxWireVersion: 21 });
    for (const field of ['setName', 'hosts', 'msg', 'topologyVersion'])
      expect(reply?.body).not.to.have.property(field);
  });

  it('keeps nothing of a message that it has answered', async () => {
    const idle = await Promise.all([open(), open(), open(), open()]);
    const taken = () => {
      collectGarbage();
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = taken();
    for (const client of idle) await client.ask(msg({ ping: 1, padding: Buffer.alloc(8_000_000) }));
    await nextTurn(2);
    expect(taken() - before, 'bytes').to.be.below(8_000_000);
  });

  it('takes both section kinds, several messages in one packet and one in many', async () => {
    const client = await open();
    const insert = msg({ insert: 'both' }, { sequences: { documents: [{ _id: 1 }, { _id: 2 }] } });
    expect(await client.ask(insert)).to.include({ n: 2, ok: 1 });
    client.socket.write(
      Buffer.concat([msg({ ping: 1 }, { requestId: 1 }), msg({ ping: 1 }, { requestId: 2 })]),
    );
    expect((await client.reply())?.responseTo).to.equal(1);
    expect((await client.reply())?.responseTo).to.equal(2);
    const count = msg({ count: 'both' });
    for (const byte of count) client.socket.write(Buffer.of(byte));
    expect((await client.reply())?.body).to.include({ n: 2 });
  });

  it('serves a client that sends more than it is served at a time', async () => {
    const client = await open();
    const documents = [{ text: 'x'.repeat(100_000) }];
    for (let i = 0; i < 40; i++) client.socket.write(msg({ insert: 'flood', documents }, { requestId: i }));
    for (let i = 0; i < 40; i++) expect((await client.reply())?.responseTo).to.equal(i);
    expect(await client.ask(msg({ count: 'flood' }))).to.include({ n: 40 });
  });

  it('sends no reply after moreToCome, and still does what was asked', async () => {
    const client = await open();
    client.socket.write(
      msg({ insert: 'quiet', documents: [{ _id: 1 }], writeConcern: { w: 0 } }, { flags: 2, requestId: 1 }),
    );
    client.socket.write(msg({ count: 'quiet' }, { requestId: 2 }));
    expect(await client.reply()).to.deep.include({ responseTo: 2, body: { n: 1, ok: 1 } });
  });

  it('accepts unknown optional bits, and closes on required ones: a checksum, an unknown one', async () => {
    const client = await open();
    expect(await client.ask(msg({ ping: 1 }, { flags: 1 << 16 }))).to.include({ ok: 1 });
    for (const flags of [1, 4, 1 << 15]) {
      const other = await open();
      expect(await other.ask(msg({ ping: 1 }, { flags })), String(flags)).to.equal(undefined);
    }
  });

  const body = Buffer.from(serialize({ ping: 1, $db: 'wire' }));
  const withSize = (at: number, size: number) => {
    const bytes = msg({ ping: 1 });
    bytes.writeInt32LE(size, at);
    return bytes;
  };
  const broken: [name: string, bytes: Buffer][] = [
    ['a length of 0', withSize(0, 0)],
    ['a length of 15', withSize(0, 15)],
    ['a negative length', withSize(0, -1)],
    ['a length above the limit', withSize(0, MAX_MESSAGE_BYTES + 1)],
    ['an unknown opcode', message(1234, body)],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['an OP_MSG without sections', message(OP_MSG, flagBits(0))],
    ['an unknown section kind', message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(9), body]))],
    ['two bodies', message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(0), body, Buffer.of(0), body]))],
    ['a document longer than its message', withSize(21, 5000)],
    ['a document shorter than possible', withSize(21, 3)],
    [
      'a sequence longer than its message',
      message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(1, 255, 255, 255, 127)])),
    ],
    [
      'a document that ends within its size',
      message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(0, 5, 0)])),
    ],
    [
      'a sequence that ends within its size',
      message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(1, 5, 0)])),
    ],
    [
      'a sequence without a name',
      message(OP_MSG, Buffer.concat([flagBits(0), Buffer.of(1, 6, 0, 0, 0, 65, 65)])),
    ],
    [
      'an OP_QUERY on a collection',
      message(OP_QUERY, Buffer.concat([flagBits(0), Buffer.from('a.b\0'), Buffer.alloc(8), body])),
    ],
    [
      'two sequences of one name',
      message(
        OP_MSG,
        Buffer.concat([flagBits(0), sequence('a', body), sequence('a', body), Buffer.of(0), body]),
      ),
    ],
    [
      'a document that goes on behind its sequence',
      message(OP_MSG, Buffer.concat([flagBits(0), sequence('a', body.subarray(0, -1)), Buffer.of(0), body])),
    ],
    ['a sequence alone', message(OP_MSG, Buffer.concat([flagBits(0), sequence('a', body)]))],
    ['an OP_QUERY without a name', message(OP_QUERY, Buffer.alloc(12, 65))],
  ];
  for (const [name, bytes] of broken)
    it(`closes the connection on ${name}, and no other`, async () => {
      const [victim, witness] = [await open(), await open()];
      expect(await victim.ask(bytes)).to.equal(undefined);
      expect(await witness.ask(msg({ ping: 1 }))).to.include({ ok: 1 });
    });

  it('answers a sound frame with a broken document by an error', async () => {
    const client = await open();
    const garbage = msg({ ping: 1 });
    garbage[25] = 0x66; // no such BSON type
    expect(await client.ask(garbage)).to.include({ ok: 0, code: 22, codeName: 'InvalidBSON' });
    expect(await client.ask(msg({ ping: 1 }))).to.include({ ok: 1 });
  });

  it('lives through random bytes', async () => {
    const seed = Date.now() % 2 ** 31;
    let state = seed;
    const random = () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state / 0x7fffffff;
    };
    for (let round = 0; round < 200; round++) {
      const client = await open();
      const bytes = msg({ insert: 'noise', documents: [{ _id: round, a: [1, { b: 'x' }] }], ordered: true });
      for (let i = 0; i < 1 + random() * 6; i++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      // The length stays true, so that the server is not left waiting for more.
      bytes.writeInt32LE(bytes.length, 0);
      client.socket.end(bytes);
      await once(client.socket, 'close');
    }
    const client = await open();
    expect(await client.ask(msg({ ping: 1 })), `seed ${seed}`).to.include({ ok: 1 });
  });

  it('refuses nesting that would exhaust the stack, as an error', async () => {
    const client = await open();
    const depth = 20_000;
    // LENGTH 03 'a' 00 at each level, the empty document inside, then an end byte for each level.
    const deep = Buffer.alloc(depth * 8 + 5);
    for (let level = 0; level < depth; level++) {
      deep.writeInt32LE(deep.length - level * 8, level * 7);
      deep.write('\x03a\0', level * 7 + 4, 'latin1');
    }
    deep.writeInt32LE(5, depth * 7);
    const insert = (document: Buffer) => {
      const content = Buffer.concat([Buffer.from('documents\0'), document]);
      const size = Buffer.alloc(4);
      size.writeInt32LE(4 + content.length);
      return message(
        OP_MSG,
        Buffer.concat([
          flagBits(0),
          Buffer.of(1),
          size,
          content,
          Buffer.of(0),
          Buffer.from(serialize({ insert: 'deep', $db: 'wire' })),
        ]),
      );
    };
    const reply = await client.ask(insert(deep));
    expect(writeErrorCode(reply)).to.equal(15);
    expect(await client.ask(msg({ ping: 1 }))).to.include({ ok: 1 });
  });

  it('refuses documents above 16 MiB and takes those just below', async () => {
    const client = await open();
    const insert = (length: number) =>
      msg({ insert: 'large' }, { sequences: { documents: [{ _id: length, text: 'x'.repeat(length) }] } });
    expect(await client.ask(insert(16 * 1024 * 1024 - 100))).to.include({ n: 1, ok: 1 });
    const reply = await client.ask(insert(16 * 1024 * 1024));
    expect(writeErrorCode(reply)).to.equal(10334);
  });

  it('is used while a client is connected, and says when one leaves', async () => {
    for (const client of clients.splice(0)) client.socket.destroy();
    const left = new Promise<void>((resolve) => server.onLeave(() => server.isUsed() || resolve()));
    const client = await open();
    await client.ask(msg({ ping: 1 }));
    expect(server.isUsed()).to.equal(true);
    client.socket.destroy();
    await left;
    server.onLeave(() => {});
  });

  it('writes the reply of a cursor as BSON is written, and the lead of each kind of message', () => {
    for (const count of [0, 1, 11, 101]) {
      const documents = Array.from({ length: count }, (_, _id) => ({ _id, text: 'x'.repeat(_id) }));
      for (const [field, id] of [
        ['firstBatch', 0n],
        ['nextBatch', 2n ** 62n],
      ] as const) {
        const encoded = documents.map((document) => serialize(document));
        const reply = { namespace: 'a.b', field, cursorId: id, documents: encoded };
        const bytes = encodeReply({ requestId: 9, legacy: false }, reply);
        const cursor = { [field]: documents, id: Long.fromBigInt(id), ns: 'a.b' };
        expect(bytes.subarray(21)).to.deep.equal(Buffer.from(serialize({ cursor, ok: new Double(1) })));
        expect([0, 8, 12, 16].map((at) => bytes.readInt32LE(at))).to.deep.equal([bytes.length, 9, OP_MSG, 0]);
      }
    }
    const old = encodeReply({ requestId: 9, legacy: true }, { ok: 1 });
    // Length, answered request, OP_REPLY, flag AwaitCapable, no cursor, from 0, one document.
    const lead = [0, 8, 12, 16, 20, 24, 28, 32].map((at) => old.readInt32LE(at));
    expect(lead).to.deep.equal([old.length, 9, 1, 8, 0, 0, 0, 1]);
    expect(deserialize(old.subarray(36))).to.deep.equal({ ok: 1 });
  });

  it('sends no document above 16 MiB and 16 KiB', () => {
    const reply = (length: number) => ({ text: 'x'.repeat(length - 16) });
    const limit = 16 * 1024 * 1024 + 16 * 1024;
    expect(serialize(reply(limit))).to.have.lengthOf(limit);
    expect(encodeReply({ requestId: 9, legacy: false }, reply(limit))).to.have.lengthOf(21 + limit);
    expect(() => encodeReply({ requestId: 9, legacy: false }, reply(limit + 1)))
      .to.throw()
      .with.property('code', 10334);
  });

  it('listens on loopback only', () => {
    expect(server.uri).to.equal(`mongodb://127.0.0.1:${server.port}/test`);
    expect(server.port, 'a free one').to.be.above(1023);
  });
});
