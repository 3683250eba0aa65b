import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { compiled } from '../support/child-process.js';

describe('one process of several that cannot start', () => {
  for (const path of ['gateway/main.js', 'http/main.js']) {
    it(`${path} says in a line each that it needs Redis and the shared database`, async () => {
      const child = spawn(process.execPath, [fileURLToPath(compiled(path))], {
        cwd: tmpdir(),
        env: { PATH: process.env.PATH, NODE_ENV: 'test', HTTP_PORT: '0', GATEWAY_PORT: '0' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const [status] = await once(child, 'close');
      expect(status).to.equal(1);
      expect(stderr).to.match(/^(REDIS_URL: .+\nMONGODB_URI: .+|MONGODB_URI: .+\nREDIS_URL: .+)\n$/);
    });
  }
});
