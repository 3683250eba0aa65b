import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AppError } from '../../../../../domain/kernel/errors.js';
import { createLogger } from '../../../../../domain/platform/observe/logger.js';
import { serveOwnPort } from '../../../../../domain/platform/observe/metrics/own-port.js';
import { writeTargets } from '../../../../../domain/platform/observe/metrics/targets.js';
import { loadConfig } from '../../../../../domain/platform/settings/config.js';
import { freePort } from '../../../../../scripts/command/ports.js';
import { eventually } from '../../../../support/eventually.js';
import { restClient } from '../../../../support/rest.js';

const logger = createLogger('silent', 'test');

describe('the port of a process’s own', () => {
  let folder: string;
  const closers: (() => void)[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-metrics-'));
  });

  afterEach(() => {
    for (const close of closers.splice(0)) close();
    rmSync(folder, { recursive: true });
  });

  const settings = (env: Record<string, string>) => loadConfig({ DATA_DIR: folder, ...env }, folder);

  /** Serves a port; the requests to it. */
  async function serve(env: Record<string, string> = {}, probe = async () => {}) {
    const port = await freePort();
    const config = settings({ METRICS_PORT: String(port), ...env });
    const own = await serveOwnPort('service', config, probe, logger);
    closers.push(() => own?.close());
    return restClient(() => `http://127.0.0.1:${port}`).call;
  }

  /** A server in place of a process. */
  async function standIn(answer: RequestListener, port = 0): Promise<Server> {
    const server = createServer(answer).listen(port, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return server;
  }

  const hostOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('answers the operators’ calls, and names what else is asked of it', async () => {
    const call = await serve();
    expect((await call('/healthz')).body).to.deep.equal({ up: true });
    expect((await call('/readyz?x=1')).body).to.deep.equal({ ready: true });
    expect((await call('/metrics')).text).to.match(/^process_cpu_seconds_total\S* \d/m);
    const strange = await call('/x');
    expect([strange.status, strange.body]).to.deep.equal([
      404,
      { status: 404, message: 'NOT_FOUND', errors: ['no such path: /x'] },
    ]);
    const posted = await call('/metrics', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('says why the process is not ready', async () => {
    const call = await serve({}, async () => {
      throw new AppError('SERVICE_UNAVAILABLE', 'this process is shutting down');
    });
    const { status, text, headers } = await call('/readyz');
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(text).to.include('this process is shutting down');
  });

  it('keeps both pages of metrics from callers without METRICS_TOKEN', async () => {
    const call = await serve({ METRICS_TOKEN: 'operators' });
    const headers = { Authorization: 'Bearer operators' };
    writeTargets({ DATA_DIR: folder }, []);
    for (const path of ['/metrics', '/metrics/cluster']) {
      const refused = await call(path);
      expect(refused.status, path).to.equal(401);
      expect(refused.headers.get('www-authenticate')).to.equal('Bearer realm="adoption"');
      expect((await call(path, { headers })).status, path).to.equal(200);
    }
    expect((await call('/readyz')).status).to.equal(200);
  });

  it('joins the metrics of the listed processes, and shows which do not answer', async () => {
    const call = await serve({ METRICS_TOKEN: 'operators' });
    const headers = { Authorization: 'Bearer operators' };
    expect((await call('/metrics/cluster', { headers })).status, 'nothing is listed').to.equal(404);

    const exposed = (count: number) =>
      `# HELP sent_total Sent {all}\n# TYPE sent_total counter\nsent_total ${count}\nsent_total{to="a}"} 1\n\n# HELP up_share Share\n# TYPE up_share gauge\nup_share{process="http"} 0.5\n`;
    const first = await standIn((req, res) => res.end(req.headers.authorization && exposed(3)));
    const second = await standIn((_, res) => res.end(exposed(4)));
    const silent = await standIn(() => {});
    const failing = await standIn((_, res) => res.writeHead(503).end('gone 1'));
    const closed = `127.0.0.1:${await freePort()}`;
    const [one, two, three, four] = [first, second, silent, failing].map(hostOf);
    writeTargets({ DATA_DIR: folder }, [
      { targets: [one, two] as string[], labels: { process: 'http' } },
      { targets: [three, four, closed] as string[], labels: { process: 'gateway' } },
    ]);
    await eventually(async () => {
      const { text, headers: answered } = await call('/metrics/cluster', { headers });
      expect(answered.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
      expect(text.split('\n')).to.deep.equal([
        '# HELP up 1 if the process answered',
        '# TYPE up gauge',
        `up{instance="${one}",process="http"} 1`,
        `up{instance="${two}",process="http"} 1`,
        `up{instance="${three}",process="gateway"} 0`,
        `up{instance="${four}",process="gateway"} 0`,
        `up{instance="${closed}",process="gateway"} 0`,
        '# HELP sent_total Sent {all}',
        '# TYPE sent_total counter',
        `sent_total{instance="${one}"} 3`,
        `sent_total{instance="${one}",to="a}"} 1`,
        `sent_total{instance="${two}"} 4`,
        `sent_total{instance="${two}",to="a}"} 1`,
        '# HELP up_share Share',
        '# TYPE up_share gauge',
        `up_share{instance="${one}",process="http"} 0.5`,
        `up_share{instance="${two}",process="http"} 0.5`,
        '',
      ]);
    });
  });

  it('must be free, except under pm2, where the process waits until the one before is gone', async () => {
    const base = await freePort();
    // The second http process.
    const port = base + 3;
    const before = await standIn((_, res) => res.end('before'), port);
    const taken = serveOwnPort('http', settings({ METRICS_PORT: String(port) }), async () => {}, logger);
    const fault = await taken.then(String, ({ message }: Error) => message);
    expect(fault).to.include(`METRICS_PORT: 127.0.0.1:${port} is taken`);

    const second = settings({ METRICS_PORT: String(base), NODE_APP_INSTANCE: '1' });
    const own = await serveOwnPort('http', second, async () => {}, logger);
    closers.push(() => own?.close());
    const health = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).text();
    expect(await health()).to.equal('before');
    before.close();
    before.closeAllConnections();
    await eventually(async () => expect(await health()).to.equal('{"up":true}\n'));
  });

  it('is not opened without METRICS_PORT', async () => {
    expect(await serveOwnPort('http', settings({}), async () => {}, logger)).to.equal(undefined);
  });
});
