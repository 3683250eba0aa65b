import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { targetsFile } from '../../../domain/platform/observe/metrics/targets.js';
import { pushTo } from '../../support/chat.js';
import { eventually } from '../../support/eventually.js';
import { connect } from '../../support/sockets.js';
import type { Pm2Cluster } from './pm2-cluster.js';
import { hasPrometheus, startPrometheus } from './prometheus.js';

/** What a cluster of six processes shows its operators. */
export function describeOperatorViews(running: () => Pm2Cluster): void {
  let cluster: Pm2Cluster;

  before(() => {
    cluster = running();
  });

  it('shows its processes in a table, without colours if piped', async () => {
    const { status, output } = await cluster.run('status');
    const names = [...output.matchAll(/^(\w+) +\d+ {2}online {2}(?:yes|-) /gm)].map(([, name]) => name);
    expect(names.sort()).to.deep.equal(['database', 'gateway', 'gateway', 'gateway', 'http', 'http']);
    expect(output)
      .to.match(/^process +id +status +ready /)
      .and.include(`${cluster.http}/metrics/cluster`);
    expect(output).not.to.include('\u001B');
    expect(status).to.equal(0);
  });

  it('shows them to programs, and lists them for Prometheus', async () => {
    await connect((await cluster.openRoom()).asker, {}, cluster.gateway);
    // A process computes its metrics once a second.
    const serving = await eventually(async () => {
      const { running, mergedMetrics, processes } = await cluster.status();
      expect([running, mergedMetrics]).to.deep.equal([true, `${cluster.http}/metrics/cluster`]);
      expect(processes.reduce((sum, { sockets }) => sum + (sockets ?? 0), 0)).to.equal(1);
      return processes;
    });
    expect(serving.map(({ process }) => process).sort()).to.deep.equal([
      ...['database', 'gateway', 'gateway', 'gateway', 'http', 'http'],
    ]);
    for (const one of serving) {
      const isDatabase = one.process === 'database';
      expect(one).to.include({ status: 'online', ready: isDatabase ? null : true, restarts: 0 });
      expect(one.memoryBytes).to.be.above(10 * 1024 ** 2);
      expect(one.streams, one.process).to.equal(isDatabase ? null : 0);
      expect(one.engine ?? '', one.process).to.match(one.process === 'gateway' ? /^u?ws$/ : /^$/);
      if (!isDatabase) expect((await fetch(one.metrics as string)).status).to.equal(200);
    }
    const listed = Object.values(cluster.targets()).flat();
    expect(listed).to.have.members(
      serving.flatMap(({ metrics }) => (metrics ? [new URL(metrics).host] : [])),
    );
  });

  it('prints the last lines of its logs, and follows them', async () => {
    const { output, status } = await cluster.run('logs --lines 1');
    expect(output.trimEnd().split('\n'), output).to.have.length(3);
    for (const name of ['gateway', 'http', 'database']) expect(output).to.include(`"name":"${name}"`);
    expect(status).to.equal(0);
    const before = cluster.pids().sort();
    const { child, output: followed } = cluster.followLogs();
    await eventually(() => {
      appendFileSync(join(cluster.folder, 'logs', 'http.log'), '{"msg":"a new line"}\n');
      expect(followed.text).to.include('{"msg":"a new line"}\n');
    });
    child.kill('SIGTERM');
    await once(child, 'exit');
    await eventually(() => expect(cluster.pids().sort()).to.deep.equal(before));
  });

  it('lets Prometheus add up its processes, asked one by one or together', async function () {
    if (!hasPrometheus) this.skip();
    const prometheus = await startPrometheus({
      each: { file_sd_configs: [{ files: [targetsFile({ DATA_DIR: cluster.folder })] }] },
      together: {
        honor_labels: true,
        metrics_path: '/metrics/cluster',
        static_configs: [{ targets: [new URL(cluster.http).host] }],
      },
    });
    const both = (value: number) => ({ each: value, together: value });
    const stored = 'adoption_chat_messages_total{outcome="stored"}';
    const total = `sum by (job) (${stored})`;
    try {
      // Five processes and the merged page itself.
      const up = { ...both(5), together: 6 };
      await eventually(async () =>
        expect(await prometheus.query('sum by (job) (up)', 'job')).to.deep.equal(up),
      );
      const { each: before = Number.NaN } = await prometheus.query(total, 'job');

      const room = await cluster.openRoom();
      const devices = await Promise.all(
        Array.from({ length: 8 }, () => connect(room.asker, {}, cluster.gateway)),
      );
      for (const [i, device] of devices.entries()) {
        await device.join(room.chatNo, 0);
        expect((await device.send(room.chatNo, `by socket ${i}`)).status).to.equal(200);
      }
      for (let i = 0; i < 4; i += 1)
        expect((await pushTo(room, room.asker, `by push ${i}`)).status).to.equal(200);

      const after = both(before + 12);
      await eventually(async () => expect(await prometheus.query(total, 'job')).to.deep.equal(after));
      const sockets = await prometheus.query('sum by (job) (adoption_sockets_open)', 'job');
      expect(sockets).to.deep.equal(both(8));
      const counting = `count by (job) (${stored} > 0)`;
      expect((await prometheus.query(counting, 'job')).each, 'several count').to.be.above(1);
    } finally {
      await prometheus.stop();
    }
  });
}
