import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Pm2 } from '../../../scripts/cluster/pm2.js';

type State = [status: string, restarts: number, pid: number];

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

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'adoption-pm2-'));
    let reload: Socket | undefined;
    const look = (socket: Socket) => {
      const [status, restart_time, pid] = (states.length > 1 ? states.shift() : states[0]) as State;
      const pm2_env = { status, restart_time, env: {}, NODE_APP_INSTANCE: 0, pm_uptime: 0 };
      socket.end(encode({ args: [[{ pm_id: 4, name: 'gateway', pid, monit: {}, pm2_env }]] }));
      if (states.length === 1) reload?.end(encode({ args: [] }));
    };
    daemon = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        if (data.includes('reloadProcessId')) reload = socket;
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

  it('succeeds where the old process had ended', async () => {
    states = [
      ['waiting restart', 7, 0],
      ['launching', 7, 2],
      ['online', 7, 2],
    ];
    expect(await reload()).to.equal(true);
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
