import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { newConfig } from '../../../scripts/cluster/reload.js';

describe('npm run cluster -- reload', () => {
  const { env: environment } = process;
  const before = process.cwd();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-reload-'));
    process.chdir(folder);
    process.env = {};
  });
  afterEach(() => {
    process.env = environment;
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  });

  const writeSettings = (...lines: string[]) => writeFileSync(join(folder, '.env'), lines.join('\n'));

  async function appOf(kind: string) {
    const { apps } = await import(`${pathToFileURL(join(projectRoot(), 'ecosystem.config.js'))}?${folder}`);
    return apps.find(({ name }: { name: string }) => name === kind);
  }

  /** The environment that a start gives its gateways. */
  const started = async (): Promise<Record<string, string>> => (await appOf('gateway')).env;

  it('has the embedded database log the connection string that its processes have', async () => {
    const { MONGODB_URI } = await started();
    const { args } = await appOf('database');
    expect(MONGODB_URI?.endsWith(`/${args[args.indexOf('--database') + 1]}`)).to.equal(true);
  });

  it('refuses another port or database, given in .env after the start', async () => {
    writeSettings('GATEWAY_PORT=9081', 'DEMO=on');
    const env = await started();
    expect(newConfig({ env }, true)).to.include({ GATEWAY_PORT: 9_081, DEMO: true });
    writeSettings('GATEWAY_PORT=9082');
    expect(() => newConfig({ env }, true)).to.throw(
      'GATEWAY_PORT: the cluster runs with 9081, not 9082: to change it, stop it and start it again',
    );
    writeSettings('MONGODB_URI=mongodb://127.0.0.1:1/adoption');
    expect(() => newConfig({ env }, true)).to.throw(
      'MONGODB_URI: the cluster runs with the embedded database: to change it',
    );
  });

  it('applies what else .env says now, and keeps what neither it nor the environment names', async () => {
    writeSettings('HTTP_PORT=9080', 'DEMO=on', 'LOG_LEVEL=info');
    const env = await started();
    writeSettings('DEMO=off', 'LOG_LEVEL=warn');
    const config = newConfig({ env }, true);
    expect(config).to.include({ HTTP_PORT: 9_080, DEMO: false, LOG_LEVEL: 'warn' });
  });

  it('takes over a cluster of a release that accepted other values, and without a port that it lacks', () => {
    process.env.QUEUE_MS = '40';
    const env = { HTTP_PORT: '9080', QUEUE_MS: 'forty' };
    expect(newConfig({ env }, false)).to.include({ HTTP_PORT: 9_080, QUEUE_MS: 40 });
    process.env.QUEUE_MS = 'fifty';
    expect(() => newConfig({ env }, false)).to.throw('QUEUE_MS: ');
  });
});
