import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { holdOwner } from 'embedded-mongo/lock';
import { Pm2 } from '../../../scripts/cluster/pm2.js';
import { isListening } from '../../../scripts/command/ports.js';
import { eventually } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { followStream, openStream } from '../../support/streams.js';
import { createChecker } from '../cluster/checker.js';
import { startLoad } from '../cluster/load.js';
import { describeEndedReloads } from './ended-reloads.js';
import { describeOperatorViews } from './operator-views.js';
import { type Pm2Cluster, preparePm2Cluster } from './pm2-cluster.js';
import { startKeptConnections, startRequests } from './request-load.js';

/** Rooms whose two members write during the reload. */
const ROOMS = 12;

/** Pause of each writer between messages, ms. */
const REST_MS = 500;

/** Members who read their event stream during the reload, and get messages pushed over REST. */
const STREAMS = 12;

/** Makes every call of pm2's program fail. */
const BROKEN_PM2 = `--import=data:text/javascript,${encodeURIComponent(`
  const [, program, action] = process.argv;
  if (program.endsWith('/pm2')) {
    console.log('[PM2][ERROR] no ' + action);
    process.exit(1);
  }`)}`;

/** Requests in flight; connections of another client, which it uses after pauses of up to 6 s. */
const WORKERS = 24;
const KEPT = 40;

describe('npm run cluster', function () {
  this.timeout(240_000);
  let cluster: Pm2Cluster;

  before(async function () {
    if (!hasRedisServer) this.skip();
    cluster = await preparePm2Cluster();
  });

  after(() => cluster?.destroy());

  it('49: names a missing setting in one line, and starts nothing', async () => {
    const { status, output } = await cluster.run(undefined, { REDIS_URL: '' });
    expect(output).to.match(/^REDIS_URL: .+\n$/);
    expect(status).to.equal(1);
    expect(cluster.pids()).to.deep.equal([]);
  });

  it('50: refuses a Redis that does not answer and a port that is taken', async () => {
    const away = await cluster.run(undefined, { REDIS_URL: 'redis://127.0.0.1:1' });
    expect(away.output).to.match(/^REDIS_URL: .+\n$/);
    const { port } = new URL(process.env.REDIS_URL ?? cluster.http);
    const clash = await cluster.run(undefined, { GATEWAY_PORT: port, HTTP_PORT: port });
    expect(clash.output).to.match(/^GATEWAY_PORT: must not be \d+, the HTTP_PORT: .+\n$/);
    expect([away.status, clash.status]).to.deep.equal([1, 1]);
  });

  it('says why it does not start, also if it cannot stop what it began, and waits for nothing', async () => {
    const began = performance.now();
    const { status, output } = await cluster.run(undefined, { NODE_OPTIONS: BROKEN_PM2 });
    expect(output).to.match(/pm2: no kill\npm2: no start\n$/);
    expect(status).to.equal(1);
    // The time that a process has to get ready.
    expect(performance.now() - began).to.be.below(30_000);
  });

  it('names an unknown action and prints its usage', async () => {
    const wrong = await cluster.run('relaod');
    expect(wrong.output).to.match(/^there is no action relaod\n\nUsage: npm run cluster/);
    expect(wrong.status).to.equal(2);
    expect((await cluster.run('--help')).output).to.match(/^Usage: npm run cluster/);
    for (const [action, fault] of [
      ['scale gateways=0', 'gateways=0: must be gateways=N or http=N, with N from 1 to 999'],
      ['logs --lines all', '--lines: must be a number of lines from 0 to 999999'],
    ] as const) {
      const { status, output } = await cluster.run(action);
      expect(output.split('\n')[0]).to.equal(fault);
      expect(status).to.equal(2);
    }
  });

  it('starts six processes and returns when all are ready', async () => {
    const { status, output } = await cluster.run();
    expect(output).to.include(cluster.http).and.include(cluster.gateway).and.include('6 processes');
    expect(status, output).to.equal(0);
    for (const base of [cluster.http, cluster.gateway])
      expect((await fetch(`${base}/readyz`)).status).to.equal(200);
    expect(existsSync(join(cluster.folder, 'logs', 'gateway.log'))).to.equal(true);
    for (const folder of ['logs', 'pm2'])
      expect((statSync(join(cluster.folder, folder)).mode & 0o777).toString(8), folder).to.equal('700');
    await cluster.importMembers();
  });

  it('refuses a second start', async () => {
    const { status, output } = await cluster.run();
    expect(output).to.match(/^A cluster of .+ runs already: .+\n$/);
    expect(status).to.equal(1);
  });

  it('keeps npm start from its data', async () => {
    const { status, output } = await cluster.start();
    expect(output).to.equal(
      `DATA_DIR: a cluster serves ${cluster.folder}: npm run cluster -- status (or stop)\n`,
    );
    expect(status).to.equal(1);
  });

  it('delivers messages between its gateways, and a notification to a stream', async () => {
    const room = await cluster.openRoom();
    const stream = await openStream(room.author, { base: cluster.http });
    await stream.next();
    const asker = await connect(room.asker, {}, cluster.gateway);
    await asker.join(room.chatNo, 0);
    const sent = await asker.send(room.chatNo, 'is Bori well?');
    expect(sent.status).to.equal(200);
    const told = await stream.next(({ data }) => data.includes('"chat'));
    expect(JSON.parse(told.data).url).to.equal(`/chat/${room.chatNo}?adoptId=${room.saleNo}`);
    // Enough connections that they are almost certainly on different gateways.
    const devices = await Promise.all(
      Array.from({ length: 8 }, () => connect(room.author, {}, cluster.gateway)),
    );
    for (const device of devices) await device.join(room.chatNo, 1);
    await asker.send(room.chatNo, 'and who is it?');
    for (const device of devices)
      await device.next<{ content: string }>('message', ({ content }) => content === 'and who is it?');
  });

  describeOperatorViews(() => cluster);

  it('replaces every process while members write, and nobody notices', async () => {
    const checker = createChecker();
    const load = await startLoad(cluster, checker, ROOMS, () => cluster.gateway, REST_MS);
    const readers = await Promise.all(
      Array.from({ length: STREAMS }, async () => {
        const room = await cluster.openRoom();
        return { room, stream: await followStream(room.author, cluster.http) };
      }),
    );
    const pushed = new Map<number, number>();
    const requests = startRequests(cluster.http, WORKERS, (turn) => {
      // Every tenth is a push, each to the next room: pushes to one room never overlap.
      const { room } = readers[Math.floor(turn / 10) % STREAMS] as (typeof readers)[number];
      const headers = { Authorization: room.asker.token };
      if (turn % 10 === 0) {
        pushed.set(room.chatNo, (pushed.get(room.chatNo) ?? 0) + 1);
        const json = {
          id: null,
          chatNo: room.chatNo,
          contentType: 'text',
          content: `push ${turn}`,
          senderNo: room.asker.no,
          senderEmail: room.asker.email,
          sendTime: turn,
        };
        return { method: 'POST', path: '/chatroom/notification', headers, json };
      }
      if (turn % 3 === 0) return { path: '/chatroom', headers };
      return { path: '/community/list/recent' };
    });

    const [{ room: first }] = readers as [(typeof readers)[number]];
    const stopKept = await startKeptConnections(cluster.http, first.author, KEPT, cluster.folder);
    const before = cluster.pids();
    const began = performance.now();
    expect((await cluster.call('/demo')).status).to.equal(200);
    writeFileSync(join(cluster.folder, '.env'), 'DEMO=off\n');
    const reload = await cluster.run('reload', { SHUTDOWN_TIMEOUT_MS: '20000' });
    rmSync(join(cluster.folder, '.env'));
    const seconds = (performance.now() - began) / 1_000;
    await requests.stop();
    const onKept = await stopKept();
    await load.verify(cluster.gateway);

    expect(reload.output, reload.output).to.match(/^( +ready +(http|gateway) \d+ .*\n){5}/);
    expect(reload.status).to.equal(0);
    expect((await cluster.call('/demo')).status, 'the setting in .env').to.equal(404);
    const served = (await new Pm2(cluster.home).list()).filter(({ name }) => name !== 'database');
    expect(
      served.map(({ killTimeout }) => killTimeout),
      'how long pm2 waits',
    ).to.deep.equal(Array(5).fill(22_000));
    const kept = cluster.pids().filter((pid) => before.includes(pid));
    expect(kept, 'only pm2 and the database keep running').to.have.length(2);
    expect([...requests.failures, ...onKept.failures]).to.deep.equal([]);
    expect(onKept.reused).to.be.greaterThan(KEPT);
    expect(requests.reused).to.be.greaterThan(requests.answered / 2);
    const losses = load.clients.flatMap((client) => client.losses);
    expect(losses.length, 'every gateway was replaced').to.be.at.least(ROOMS);
    for (const { room, stream } of readers) {
      const stored = await room.author.get<{ chatList: { content: string }[] }>(`/chatroom/${room.chatNo}`);
      expect(stored.body.chatList).to.have.length(pushed.get(room.chatNo) ?? 0);
      await eventually(() => expect(stream.ids).to.have.length(pushed.get(room.chatNo) ?? 0), 12_000);
      expect(new Set(stream.ids).size, 'no notification twice').to.equal(stream.ids.length);
      expect(stream.connections).to.be.at.least(2);
      stream.close();
    }
    process.stdout.write(
      `      ${requests.answered} requests (${Math.round(requests.answered / seconds)}/s), ` +
        `${checker.answers.size} messages, ${losses.length} reconnects in ${seconds.toFixed(1)} s: none failed\n`,
    );
  });

  it('adds and removes processes while members write, and nobody notices', async () => {
    const load = await startLoad(cluster, createChecker(), 2, () => cluster.gateway, REST_MS);
    const requests = startRequests(cluster.http, 2, () => ({ path: '/community/list/recent' }));
    const up = await cluster.run('scale gateways=4 http=1');
    const listed = cluster.targets();
    const down = await cluster.run('scale http=2 gateways=3');
    await requests.stop();
    await load.verify(cluster.gateway);

    expect(requests.failures).to.deep.equal([]);
    expect(up.output).to.match(/^ +ready +gateway \d+ .*\n +removed +http \d+\n.*GATEWAY_INSTANCES=4 HTTP/);
    expect(down.output).to.match(/^ +ready +http \d+ .*\n +removed +gateway \d+\n/);
    expect([up.status, down.status]).to.deep.equal([0, 0]);
    expect([listed.gateway?.length, listed.http?.length]).to.deep.equal([4, 1]);
    const { processes } = await cluster.status();
    expect(processes.map(({ process }) => process).sort()).to.deep.equal([
      ...['database', 'gateway', 'gateway', 'gateway', 'http', 'http'],
    ]);
  });

  it('does not begin a reload with an invalid configuration', async () => {
    const before = cluster.pids();
    const { status, output } = await cluster.run('reload', { JWT_SECRET: 'short' });
    expect(output).to.equal('JWT_SECRET: must be at least 32 bytes\n');
    expect(status).to.equal(1);
    const moved = await cluster.run('reload', { HTTP_PORT: '1' });
    expect(moved.output).to.match(
      /^HTTP_PORT: .+ with \d+, not 1: to change it, stop it and start it again\n$/,
    );
    expect(cluster.pids()).to.deep.equal(before);
  });

  describeEndedReloads(() => cluster);

  it('says whom a hanging database keeps from serving, and who hangs; restarts a killed one within seconds', async () => {
    const folder = join(cluster.folder, 'mongo');
    const killed = await holdOwner(folder);
    const { processes } = await cluster.status();
    const [hanging, waiting] = ['gateway', 'http'].map((kind) =>
      processes.find(({ process, ready }) => process === kind && ready),
    );
    for (const pid of [killed?.pid, hanging?.pid]) process.kill(pid as number, 'SIGSTOP');
    // Its last answer is kept for a second.
    const readyz = waiting?.metrics?.replace(/metrics$/, 'readyz') ?? '';
    await eventually(async () => expect((await fetch(readyz)).status).to.equal(503));
    const { output } = await cluster.run('status');
    process.kill(hanging?.pid as number, 'SIGCONT');
    expect(output).to.include(`\nhttp ${waiting?.id} is not ready: the database does not answer\n`);
    expect(output).to.include(`\ngateway ${hanging?.id} says nothing: no answer within 6 s\n`);
    process.kill(killed?.pid as number, 'SIGKILL');
    await killed?.lost;
    const posts = async () => (await cluster.call('/adopt/render')).text;
    await eventually(async () => expect(await posts()).to.include('"id":80,'), 15_000);
    const back = await holdOwner(folder);
    expect(back?.pid).not.to.equal(killed?.pid);
    await back?.release();
    // A command uses the running database and leaves it running.
    await cluster.importMembers();
    expect(await posts()).to.include('"id":80,');
    expect((await cluster.run('status')).output).to.match(/^database .+ online /m);
  });

  it('stops everything: no process is left, and both ports are free', async () => {
    const { status, output } = await cluster.run('stop');
    expect(output).to.equal('Stopped.\n');
    expect(status).to.equal(0);
    await eventually(() => expect(cluster.pids()).to.deep.equal([]));
    for (const base of [cluster.http, cluster.gateway]) {
      const { hostname, port } = new URL(base);
      expect(await isListening(hostname, Number(port)), base).to.equal(false);
    }
    expect(Object.values(cluster.targets()).flat()).to.deep.equal([]);
    // pm2's dump would hold the environment of the processes: their secrets.
    expect(existsSync(join(cluster.folder, 'pm2', 'dump.pm2'))).to.equal(false);
    expect((await cluster.run('status')).status).to.equal(3);
    expect((await cluster.run('stop')).output).to.match(/^No cluster of .+ runs\.\n$/);
  });
});
