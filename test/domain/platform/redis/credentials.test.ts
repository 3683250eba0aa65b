import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { connectRedis, type RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { hasRedisServer, openConnections, startRedis, type TestRedis } from '../../../support/redis.js';

describe('a connection to Redis', () => {
  const connections = openConnections();
  const silent = createLogger('silent', 'test');
  let server: TestRedis;
  let redis: RedisConnection;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
    redis = await connections.connect(server.url);
  });
  after(async () => {
    await connections.close();
    await server?.stop();
  });

  it('authenticates, and never reveals the credentials', async () => {
    await redis.commands.acl('SETUSER', 'app', 'on', '>s3cr:t@/word', '~*', '&*', '+@all');
    await redis.commands.config('SET', 'requirepass', 'master-word');
    const at = `127.0.0.1:${server.port}`;
    for (const credentials of ['app:s3cr%3At%40%2Fword', ':master-word']) {
      const known = connectRedis(`redis://${credentials}@${at}/1`, silent);
      expect(await known.connected(3_000)).equal(true);
      expect(await known.ask((commands) => commands.client('INFO'))).include(' db=1 ');
      await known.close();
    }
    const unknown = connectRedis(`redis://app:wrong-word@${at}`, silent);
    expect(await unknown.connected(300)).equal(false);
    const refused = await unknown.ping().then(
      () => undefined,
      (error: Error) => error,
    );
    expect(String(refused?.cause)).match(/WRONGPASS|not/i);
    expect(JSON.stringify(refused?.cause, Object.getOwnPropertyNames(refused?.cause ?? {}))).not.include(
      'wrong-word',
    );
    await unknown.close();
  });

  it('speaks TLS to rediss://', async () => {
    const plain = createServer().listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as { port: number };
    const first = new Promise<number | undefined>((resolve) => {
      plain.once('connection', (socket) => socket.once('data', (bytes) => resolve(bytes[0])));
    });
    const secure = connectRedis(`rediss://127.0.0.1:${port}`, silent);
    // A TLS record of a handshake begins with 22 (RFC 8446, section 5.1).
    expect(await first).equal(22);
    await secure.close();
    plain.close();
  });
});
