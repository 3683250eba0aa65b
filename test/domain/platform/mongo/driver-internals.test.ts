import type { Socket } from 'node:net';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from 'embedded-mongo/server';
import mongoose from 'mongoose';
import { toAppError } from '../../../../domain/platform/process/failures.js';
import { startTcpProxy } from '../../../../scripts/command/tcp-proxy.js';

/** More bytes than the kernel buffers for a peer that does not read. */
const TOO_MUCH = 12_000_000;

describe('the patched driver', () => {
  let database: EmbeddedMongo;
  before(async () => {
    database = await startEmbeddedMongo({ storage: 'memory', database: 'adoption' });
  });
  after(() => database.close());

  it('fails a write that waits for the socket when its connection is closed', async () => {
    const writing: Socket[] = [];
    const proxy = await startTcpProxy(
      () => database.port,
      (client) => ({
        request(bytes, pass) {
          if (!bytes.includes('insert')) return pass(bytes);
          // No longer read: the driver waits for `drain`.
          client.pause();
          writing.push(client);
        },
      }),
    );
    const uri = `mongodb://127.0.0.1:${proxy.port}/test`;
    const connection = await mongoose
      .createConnection(uri, { retryWrites: false, serverSelectionTimeoutMS: 500, socketTimeoutMS: 500 })
      .asPromise();
    const outcome = connection.collection('large').insertOne({ text: 'x'.repeat(TOO_MUCH) });
    const refused = outcome.then(
      () => undefined,
      (error: Error) => error,
    );
    // The driver closes the silent connection: its socket emits neither `drain` nor `error`.
    expect(toAppError(await refused)).to.include({ code: 'SERVICE_UNAVAILABLE' });
    for (const near of writing) near.destroy();
    await connection.close();
    await proxy.close();
  });

  it('leaves no listeners on a connection', async () => {
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
