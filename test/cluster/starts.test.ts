import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { compiled } from '../support/child-process.js';

const SETTINGS = { NODE_ENV: 'test', HTTP_PORT: '0', GATEWAY_PORT: '0' };
const MONGODB_URI = 'mongodb://127.0.0.1:1/adoption';
const REDIS_URL = 'redis://127.0.0.1:1';

describe('one process of several that cannot start', () => {
  function start(path: string, settings: Record<string, string>) {
    const { status, stderr, stdout } = spawnSync(process.execPath, [fileURLToPath(compiled(path))], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, ...SETTINGS, ...settings },
      encoding: 'utf8',
      timeout: 15_000,
    });
    return { status, lines: stderr.trim().split('\n'), stdout };
  }

  for (const path of ['gateway/main.js', 'http/main.js']) {
    it(`${path} says in one line that it needs Redis, or the shared database`, () => {
      const withoutRedis = start(path, { MONGODB_URI });
      expect(withoutRedis.status).to.equal(1);
      expect(withoutRedis.lines).to.have.length(1);
      expect(withoutRedis.lines[0]).to.match(/^REDIS_URL: /);
      const withoutDatabase = start(path, { REDIS_URL });
      expect(withoutDatabase.status).to.equal(1);
      expect(withoutDatabase.lines).to.have.length(1);
      expect(withoutDatabase.lines[0]).to.match(/^MONGODB_URI: /);
      expect(start(path, {}).lines, 'a line for each').to.have.length(2);
    });
  }
});
