import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Pm2, ReloadUnderWay } from '../../../scripts/cluster/pm2.js';

/** `old`: the process that this one replaces still runs. */
type State = [status: string, restarts: number, pid: number, old?: boolean];

/** A message of pm2's protocol with one part. */
function encode(content: object): Buffer {
  const part = Buffer.from(`j:${JSON.stringify(content)}`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return Buffer.concat([Buffer.of(0x12), length, part]);
}

describe('the replacement of a process by pm2', () => {
  let home: string;
  let daemon: Server;
  /** What each look at the process shows, the last one from then on. */
  let states: State[];
  /** What pm2 was told to do. */
  let told: string[];

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'adoption-pm2-'));
    told = [];
    let reload: Socket | undefined;
    const look = (socket: Socket) => {
      const [status, restart_time, pid, isReplacing] = (
        states.length > 1 ? states.shift() : states[0]
      ) as State;
      const pm2_env = { status, restart_time, env: {}, NODE_APP_INSTANCE: 0, pm_uptime: 0 };
      const shown = (pm_id: number | string) => ({ pm_id, name: 'gateway', pid, monit: {}, pm2_env });
      socket.end(encode({ args: [[shown(4), ...(isReplacing ? [shown('_old_4')] : [])]] }));
      if (states.length === 1) reload?.end(encode({ args: [] }));
    };
    daemon = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        const [method] = /(?:reload|stop)ProcessId/.exec(data.toString()) ?? [];
        if (method) told.push(method);
        if (method === 'reloadProcessId') reload = socket;
        else if (method === 'stopProcessId') socket.end(encode({ args: [] }));
        else look(socket);
      });
    });
    await once(daemon.listen(join(home, 'rpc.sock')), 'listening');
  });
  afterEach(async () => {
    await new Promise((resolve) => daemon.close(resolve));
    rmSync(home, { recursive: true });
  });

  const reload = () => new Pm2(home, home).reload(4, 12_000);

  it('succeeds although pm2 shows the old process as ended for a moment', async () => {
    states = [
      ['online', 0, 1],
      ['waiting restart', 0, 1],
      ['launching', 1, 2],
      ['online', 1, 2],
    ];
    expect(await reload()).to.equal(true);
  });

  it('succeeds although pm2 counts the process as replaced before the new one runs', async () => {
    states = [
      ['online', 0, 1],
      ['stopped', 1, 0],
      ['launching', 1, 2],
      ['online', 1, 2],
    ];
    expect(await reload()).to.equal(true);
  });

  it('keeps pm2 from starting again, beside the new one, what had ended', async () => {
    states = [
      ['launching', 6, 1],
      ['waiting restart', 6, 0],
      ['stopped', 6, 0],
      ['launching', 6, 2],
      ['online', 6, 2],
    ];
    expect(await reload()).to.equal(true);
    expect(told).to.deep.equal(['stopProcessId', 'reloadProcessId']);
  });

  it('is refused, and touches nothing, while another one is under way', async () => {
    states = [['launching', 1, 2, true]];
    const refused = await reload().catch((error) => error);
    expect(refused).to.be.instanceOf(ReloadUnderWay);
    expect(told).to.deep.equal([]);
  });

  it('fails once the new process has ended', async () => {
    states = [
      ['online', 0, 1],
      ['launching', 1, 2],
      ['waiting restart', 1, 2],
      ['waiting restart', 1, 2],
    ];
    expect(await reload()).to.equal(false);
  });
});
