import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { runScript } from '../../scripts/script-runs.js';

const MONGODB_URI = 'mongodb://127.0.0.1:1/adoption';
const REDIS_URL = 'redis://127.0.0.1:1';

describe('one process of several without its settings', () => {
  for (const path of ['gateway/main.js', 'http/main.js']) {
    it(`${path} exits with status 1 and one line for each of Redis and the database that is not set`, async () => {
      const start = async (settings: Record<string, string>) => {
        const ports = { HTTP_PORT: '0', GATEWAY_PORT: '0' };
        const { status, stderr } = await runScript(path, [], { DATA_DIR: tmpdir(), ...ports, ...settings });
        expect(status).to.equal(1);
        return stderr.trim().split('\n');
      };
      const [withoutRedis, withoutDatabase, withoutBoth] = await Promise.all([
        start({ MONGODB_URI }),
        start({ REDIS_URL }),
        start({}),
      ]);
      expect(withoutRedis).to.have.length(1);
      expect(withoutRedis[0]).to.match(/^REDIS_URL: /);
      expect(withoutDatabase).to.have.length(1);
      expect(withoutDatabase[0]).to.match(/^MONGODB_URI: /);
      expect(withoutBoth, 'a line for each').to.have.length(2);
    });
  }
});
