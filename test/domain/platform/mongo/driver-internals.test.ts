import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { toAppError } from '../../../../domain/platform/failures.js';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../../../scripts/embedded-mongo/server.js';

/** More than the kernel takes for a reader that takes nothing, in bytes. */
const TOO_MUCH = 12_000_000;

describe('the driver, mended', () => {
  let database: EmbeddedMongo;
  before(async () => {
    database = await startEmbeddedMongo({ storage: 'memory' });
  });
  after(() => database.close());

  it('fails a write that waits for a connection which then closes', async () => {
    const { hostname, port } = new URL(database.uri);
    const writing: Socket[] = [];
    const proxy = createServer((near) => {
      const far = connect(Number(port), hostname);
      near.on('data', (chunk) => {
        if (!chunk.includes('insert')) return void far.write(chunk);
        // From here on it takes nothing: the driver waits for `drain`.
        near.pause();
        writing.push(near);
      });
      far.on('data', (chunk) => near.write(chunk));
      near.on('close', () => far.destroy());
      for (const socket of [near, far]) socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const uri = `mongodb://127.0.0.1:${(proxy.address() as AddressInfo).port}/test`;
    const connection = await mongoose
      .createConnection(uri, { retryWrites: false, serverSelectionTimeoutMS: 500 })
      .asPromise();
    const outcome = connection.collection('large').insertOne({ text: 'x'.repeat(TOO_MUCH) });
    const refused = outcome.then(
      () => undefined,
      (error: Error) => error,
    );
    while (writing.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // The end of the connection is seen by the driver once what it has written is taken or refused.
    for (const near of writing) near.resetAndDestroy();
    expect(toAppError(await refused)).to.include({ code: 'SERVICE_UNAVAILABLE' });
    await connection.close();
    proxy.close();
  });

  it('leaves nothing on a connection that is used again and again', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    const connection = await mongoose.createConnection(database.uri, { maxPoolSize: 1 }).asPromise();
    for (let i = 0; i < 30; i += 1) await connection.collection('small').findOne({});
    await connection.close();
    process.off('warning', listen);
    expect(warnings).to.deep.equal([]);
  });
});
