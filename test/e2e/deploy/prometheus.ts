import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../scripts/command/ports.js';
import { endWithTests } from '../../support/child-process.js';
import { eventually } from '../../support/eventually.js';

/** Whether the tests with Prometheus can run on this machine; else they are pending. */
export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

interface Queried {
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

/**
 * Starts Prometheus, on loopback and with a scrape a second.
 * @param jobs the `scrape_configs` by name, as fields beside the name; YAML takes them as JSON
 */
export async function startPrometheus(jobs: Record<string, object>) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-prometheus-'));
  const port = await freePort();
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: Object.entries(jobs).map(([job_name, fields]) => ({ job_name, ...fields })),
  };
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config));
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${folder}`, '--log.level=error'];
  const server = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endWithTests(server);
  const base = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (!(await fetch(`${base}/-/ready`)).ok) throw new Error('Prometheus is not ready');
  });
  return {
    /** The values of a query, by the value of a label; of one without labels under ''. */
    async query(expression: string, label = ''): Promise<Record<string, number>> {
      const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data } = (await answer.json()) as Queried;
      return Object.fromEntries(
        data.result.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])]),
      );
    },
    async stop(): Promise<void> {
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
