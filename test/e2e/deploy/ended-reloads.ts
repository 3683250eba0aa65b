import { expect } from 'chai';
import { Pm2 } from '../../../scripts/cluster/pm2.js';
import { writeUnfinished } from '../../../scripts/cluster/unfinished-reload.js';
import type { Pm2Cluster } from './pm2-cluster.js';

/** What an operator does about a reload that ended early. @param cluster a running one */
export function describeEndedReloads(cluster: () => Pm2Cluster): void {
  it('ends a reload at the first process that does not get ready; the others keep serving', async () => {
    const away = { REDIS_URL: 'redis://127.0.0.1:1', REDIS_REQUIRED: 'on' };
    const { status, output } = await cluster().run('reload', away);
    expect(output).to.match(/http \d+ does not get ready: the reload ends here\. 4 of 5 processes were not/);
    expect(output).to.match(/\nTo go on, .+ reload --resume\nTo go back, .+ reload --back\n$/);
    expect(output).not.to.match(/^ +at /m);
    expect(status).to.equal(1);
    expect((await cluster().call('/community/list/recent')).status).to.equal(200);
    const table = await cluster().run('status');
    expect(table.output.match(/ online /g)?.length).to.be.at.least(5);
  });

  it('takes back what an ended reload has replaced', async () => {
    const before = cluster().pids();
    const { status, output } = await cluster().run('reload --back');
    expect(output, output).to.match(
      /^ +ready +http \d+ .*\nWhat the reload had replaced is taken back\.\n$/m,
    );
    expect(status).to.equal(0);
    expect(
      cluster()
        .pids()
        .filter((pid) => before.includes(pid)).length,
    ).to.be.at.least(5);
  });

  it('resumes a reload that was killed with the processes that are left', async () => {
    const all = (await new Pm2(cluster().home).list()).filter(({ name }) => name !== 'database');
    const [left, ...ready] = all.toSorted((one, other) => other.id - one.id);
    writeUnfinished(cluster().home, { touched: {}, ready: ready.map(({ id }) => id) });
    const { status, output } = await cluster().run('reload --resume');
    expect(output).to.match(/^ +ready +\w+ \d+ .*\nEvery process has been replaced\.\n$/);
    expect(output).to.include(` ${left?.name} ${left?.id} `);
    expect(status).to.equal(0);
    const again = await cluster().run('reload --resume');
    expect(again.output).to.equal('reload --resume: the last reload was completed, or none was begun\n');
    expect(again.status).to.equal(1);
  });
}
