import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { nextTurn } from '../support/eventually.js';
import { serveHttp } from '../support/http-server.js';
import { rawGet } from '../support/raw-connection.js';

const REQUEST = rawGet('/healthz');

/** States of the flag that a client shares with its test. */
const [WAITING, SEND, SENT] = [0, 1, 2];

/** A client in its own thread, with one connection: it sends a second request when the flag says so. */
const CLIENT = `
  const { parentPort, workerData: { port, flag, request } } = require('node:worker_threads');
  const socket = require('node:net').connect(port, '127.0.0.1', () => socket.write(request));
  let text = '';
  socket.setEncoding('utf8').on('error', () => {}).on('close', () => parentPort.postMessage(text));
  socket.on('data', (chunk) => { text += chunk; });
  socket.once('data', () => {
    text = '';
    parentPort.postMessage('answered');
    Atomics.wait(flag, 0, ${WAITING});
    socket.write(request, () => Atomics.store(flag, 0, ${SENT}));
  });
`;

/** A second HTTP server of the service under test, as one process of several. */
const serve = (settings: { SHUTDOWN_TIMEOUT_MS?: number } = {}) =>
  serveHttp({ REDIS_URL: 'redis://127.0.0.1:1', DRAIN_WINDOW_MS: 0, ...settings });

describe('a keep-alive connection to one http process of several', () => {
  it('carries one more request during a stop, even one that arrived while the process was busy', async () => {
    const { server, port } = await serve({ SHUTDOWN_TIMEOUT_MS: 2_000 });
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const client = new Worker(CLIENT, { eval: true, workerData: { port, flag, request: REQUEST } });
    expect(await once(client, 'message')).to.deep.equal(['answered']);
    const answered = once(client, 'message');
    const stopped = server.drain();
    await nextTurn();
    Atomics.store(flag, 0, SEND);
    Atomics.notify(flag, 0);
    // Busy until the request has arrived and the 1,500 ms of idle connections are over.
    const busyUntil = performance.now() + 1_550;
    while (performance.now() < busyUntil || Atomics.load(flag, 0) !== SENT);
    const [answer] = await answered;
    expect(answer)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.match(/^Connection: close\r$/m);
    await stopped;
  });

  it('is kept for KEEP_ALIVE_MS, however soon clients are told to let go', async () => {
    const { server, port } = await serveHttp({ KEEP_ALIVE_MS: 300 });
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(REQUEST);
    const [answer] = await once(socket, 'data');
    const since = performance.now();
    expect(answer).to.match(/^Keep-Alive: timeout=5\r$/m);
    await once(socket, 'end');
    // Timers of Node count whole milliseconds.
    expect(performance.now() - since).to.be.above(290);
    await server.drain();
  });

  it('stays open during a stop for the announced keep-alive time, and a moment longer', async () => {
    const { server, port } = await serve();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(REQUEST);
    const [first] = await once(socket, 'data');
    const told = Number(/^Keep-Alive: timeout=(\d+)\r$/m.exec(first)?.[1]);
    const stopped = server.drain();
    await sleep(told * 1_000 + 200);
    socket.write(REQUEST);
    const [second] = await once(socket, 'data');
    expect(second)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.match(/^Connection: close\r$/m);
    await stopped;
  });
});
