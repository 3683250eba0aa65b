import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { writeTargets } from '../../../domain/platform/observe/metrics/targets.js';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { freePort } from '../../../scripts/command/ports.js';
import { runChecks } from '../../../scripts/doctor/check.js';
import { checkFiles } from '../../../scripts/doctor/machine.js';
import { ownPortChecks } from '../../../scripts/doctor/own-ports.js';
import { judgeReadiness } from '../../../scripts/doctor/readiness.js';
import { lineOf } from '../../../scripts/doctor/report.js';
import { engineName } from '../../support/engine.js';
import { examine, serviceSettings } from './examine.js';

const overloaded = 'this process is overloaded';

/** A server in place of a process. @param reasons why it is not ready: an answer each, the last for ever */
async function standIn(...reasons: (string | undefined)[]) {
  const server = createServer(({ url }, res) => {
    if (url !== '/readyz') return res.writeHead(url === '/healthz' ? 200 : 404).end('{"up":true}\n');
    const reason = reasons.length > 1 ? reasons.shift() : reasons[0];
    if (reason === undefined) return res.end('{"ready":true}\n');
    return res.writeHead(503).end(JSON.stringify({ message: 'SERVICE_UNAVAILABLE', errors: [reason] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  return { port, target: `127.0.0.1:${port}`, close: () => server.close() };
}

describe('npm run doctor on single processes', () => {
  const closers: (() => void)[] = [];
  const opened: typeof standIn = async (...reasons) => {
    const server = await standIn(...reasons);
    closers.push(server.close);
    return server;
  };

  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  it('takes an overload that passes for a warning', async () => {
    const settings = await serviceSettings();
    const { port, target } = await opened(overloaded, undefined);
    const { lines } = await examine({ ...settings, HTTP_PORT: port });
    expect(lines['http port']).to.match(
      new RegExp(
        `^warning: the service at http://${target} is ready, and was not .*: ${overloaded} → if it `,
      ),
    );
  });

  it('finds a process that has nearly all files open that it may', async () => {
    const files = '3<&0 4<&0 5<&0 6<&0 7<&0 8<&0 9<&0';
    const child = spawn('/bin/sh', ['-c', `ulimit -n 11 && exec ${files} && echo && exec cat`]);
    await once(child.stdout, 'data');
    const verdict = await checkFiles([child.pid as number]);
    child.stdin.end();
    await once(child, 'close');
    expect(verdict.result).to.equal('failure');
    expect(verdict.text).to.match(new RegExp(`^process ${child.pid} has 1[01] of 11 files open: `));
  });

  it('says what to do by the reason for which a process is not ready', () => {
    const remedy = (reason: string) =>
      judgeReadiness('it', { isReady: false, reason: `SERVICE_UNAVAILABLE: ${reason}` }).remedy;
    expect(remedy(overloaded)).to.include('docs/runbook.md, "Shedding"');
    expect(remedy('this process is shutting down')).to.include('docs/runbook.md, "NotReady"');
    expect(remedy('this process is starting')).to.include('docs/runbook.md, "A stuck deploy"');
    expect(remedy('the database does not answer')).to.equal('docs/runbook.md, "DatabaseAway"');
    expect(remedy('Redis does not answer')).to.equal('docs/runbook.md, "RedisAway"');
    expect(remedy('anything else')).to.equal('docs/runbook.md, "NotReady"');
  });

  it('asks each process of a cluster, and names those that are away or not ready', async () => {
    const settings = await serviceSettings();
    const config = loadConfig(settings, projectRoot());
    const [ready, waits, away] = [
      await opened(undefined),
      await opened('Redis does not answer'),
      await opened(),
    ];
    const list = (...targets: string[]) => writeTargets(config, [{ targets, labels: { process: 'http' } }]);
    away.close();
    closers.push(() => writeTargets(config, []));

    list(ready.target, waits.target, away.target);
    const { status, lines } = await examine(settings);
    expect(status).to.equal(1);
    expect(lines['own ports']?.split('\n').map((line) => line.replace(/ \(.*/, ''))).to.deep.equal([
      `failure: http at ${waits.target} is not ready: SERVICE_UNAVAILABLE: Redis does not answer → docs/runbook.md, "RedisAway"`,
      `failure: http: ${away.target} refuses connections → npm run cluster -- status; its log`,
    ]);

    list(ready.target, ready.target);
    expect((await examine(settings)).lines['own ports']).to.equal(
      'ok: each of the 2 processes of the cluster is ready',
    );

    list(away.target);
    expect((await examine(settings)).lines['own ports']).to.match(
      /^warning: none of the 1 processes of the last npm run cluster runs → .*\nskipped: METRICS_PORT is not set/,
    );
  });

  it('finds another program on METRICS_PORT, beside a service and before a start', async () => {
    const settings = await serviceSettings();
    // Beside a free one, unlike those that a server is given for port 0.
    const free = await freePort();
    const METRICS_PORT = String(free + 1);
    const other = createServer((_, res) => res.writeHead(404).end()).listen(free + 1, '127.0.0.1');
    closers.push(() => other.close());
    await once(other, 'listening');
    const taken = new RegExp(
      `^failure: METRICS_PORT: 127.0.0.1:${METRICS_PORT} is taken.* → stop it, or set METRICS_PORT to another port`,
    );
    expect((await examine({ ...settings, METRICS_PORT })).lines['own ports']).to.match(taken);

    const beforeStart = async (changes: Record<string, string>) => {
      const config = loadConfig(
        { ...settings, HTTP_PORT: '0', GATEWAY_PORT: '0', ...changes },
        projectRoot(),
      );
      const lines: string[] = [];
      const checks = ownPortChecks(
        () => config,
        async () => false,
      );
      await runChecks(checks, (finding) => lines.push(lineOf(finding, false)));
      return lines.join('\n').replace(/^(\w+) +own ports +/, '$1: ');
    };
    expect(await beforeStart({ METRICS_PORT })).to.match(taken);
    // The number of the first http process.
    const cluster = { METRICS_PORT: String(free), REDIS_URL: 'redis://127.0.0.1' };
    expect(await beforeStart(cluster)).to.match(
      new RegExp(
        `^warning: npm run cluster would be refused: METRICS_PORT of http 0: .*:${METRICS_PORT} is taken`,
      ),
    );
    const port = String(free);
    expect(await beforeStart({ METRICS_PORT: port })).to.match(/^ok: METRICS_PORT is free/);
    expect(await beforeStart({ HTTP_PORT: port, METRICS_PORT: port })).to.match(
      /^failure: METRICS_PORT: must not be \d+, the HTTP_PORT → /,
    );
  });

  it('names the engine of the gateway that runs', async () => {
    const settings = await serviceSettings();
    const { lines } = await examine({ ...settings, GATEWAY_ENGINE: 'ws' });
    expect(lines.engine).to.match(
      (await engineName) === 'ws'
        ? /^ok: ws, as GATEWAY_ENGINE says, and serves$/
        : /^warning: the gateway runs on uws; one that starts here would run on ws → /,
    );
  });
});
