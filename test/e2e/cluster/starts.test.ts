import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { runScript } from '../../scripts/script-runs.js';

const MONGODB_URI = 'mongodb://127.0.0.1:1/adoption';
const REDIS_URL = 'redis://127.0.0.1:1';

/** As soon as a process handles SIGTERM, prints how many modules of packages it has loaded until then, and sends it that. */
const TERMINATED = `--import=data:text/javascript,${encodeURIComponent(`
  process.on('newListener', function onListener(name) {
    if (name !== 'SIGTERM') return;
    process.off('newListener', onListener);
    console.log(Object.keys(process.getBuiltinModule('node:module')._cache).length);
    setImmediate(() => process.kill(process.pid, name));
  });`)}`;

describe('the start of a process', () => {
  /** Its lines on stderr, when it has exited with status 1. */
  async function start(path: string, settings: Record<string, string>): Promise<string[]> {
    const ports = { HTTP_PORT: '0', GATEWAY_PORT: '0' };
    const { status, stderr } = await runScript(path, [], { DATA_DIR: tmpdir(), ...ports, ...settings });
    expect(status).to.equal(1);
    return stderr.trim().split('\n');
  }

  for (const path of ['gateway/main.js', 'http/main.js']) {
    it(`49: ${path} exits with status 1 and one line for each of Redis and the database that is not set`, async () => {
      const [withoutRedis, withoutDatabase, withoutBoth] = await Promise.all([
        start(path, { MONGODB_URI }),
        start(path, { REDIS_URL }),
        start(path, {}),
      ]);
      expect(withoutRedis).to.have.length(1);
      expect(withoutRedis[0]).to.match(/^REDIS_URL: /);
      expect(withoutDatabase).to.have.length(1);
      expect(withoutDatabase[0]).to.match(/^MONGODB_URI: /);
      expect(withoutBoth, 'a line for each').to.have.length(2);
    });
  }

  for (const path of ['gateway/main.js', 'http/main.js']) {
    it(`ends by SIGTERM before ${path} has loaded its packages, also as a container's first process`, async () => {
      // Nobody else would end that one: it does not receive signals that it does not handle.
      const settings = { DATA_DIR: tmpdir(), LOG_LEVEL: 'silent', MONGODB_URI, REDIS_URL };
      const run = await runScript(path, [], { ...settings, NODE_OPTIONS: TERMINATED });
      expect(run).to.deep.equal({ status: 0, stdout: '0\n', stderr: '' });
    });
  }

  it('26: exits with status 1 if Redis does not answer and REDIS_REQUIRED is on', async () => {
    const lines = await start('http/main.js', {
      MONGODB_URI,
      REDIS_URL,
      REDIS_REQUIRED: 'on',
      LOG_LEVEL: 'silent',
    });
    expect(lines).to.deep.equal([
      'REDIS_URL: Redis at 127.0.0.1:1 does not answer (connect ECONNREFUSED 127.0.0.1:1)',
    ]);
  });
});
