import diagnostics from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { counted } from '../support/counted.js';
import { eventually } from '../support/eventually.js';
import { rawConnection } from '../support/raw-connection.js';
import { takeErrors } from '../support/unexpected-errors.js';

/** What a planted callback throws. */
const PLANTED = 'planted in a callback';

/** In place of a callback. */
export const fail = (): never => {
  throw new Error(PLANTED);
};

const failures = () => counted(metrics.unexpectedErrors, {});

/** Expects that what is done makes one callback fail: once, logged with its name, and without another effect. */
export async function failsOnce(name: RegExp, act: () => Promise<void> | void, of: string): Promise<void> {
  const before = await failures();
  await act();
  const lines: string[] = [];
  await eventually(() => {
    lines.push(...takeErrors());
    expect(lines, of).to.have.length(1);
  });
  expect(JSON.parse(lines[0] as string), of).to.include({
    msg: 'a callback of a connection failed: the connection is closed',
  });
  expect(JSON.parse(lines[0] as string).callback, of).to.match(name);
  expect(await failures(), of).to.equal(before + 1);
}

/** Expects that what is done fails in callbacks that are contained. */
export async function failsAtLeastOnce(act: () => void): Promise<void> {
  const before = await failures();
  act();
  expect(await failures()).to.be.greaterThan(before);
  expect(takeErrors().every((line) => line.includes(PLANTED))).to.equal(true);
}

type Emitters = Record<'server' | 'connection' | 'request' | 'answer', EventEmitter>;

/** What Node makes of a request that is not answered yet. */
export async function emittersOf(
  base: string,
  request: string,
): Promise<Emitters & { ended: Promise<void> }> {
  let seen: Emitters | undefined;
  const { port } = new URL(base);
  const listener = (message: unknown) => {
    const {
      request: req,
      response,
      socket,
      server,
    } = message as {
      request: IncomingMessage;
      response: ServerResponse;
      socket: Socket;
      server: HttpServer;
    };
    if (String(socket.localPort) === port)
      seen = { server, connection: socket, request: req, answer: response };
  };
  diagnostics.subscribe('http.server.request.start', listener);
  const { ended } = rawConnection(base, request);
  await eventually(() => expect(seen).to.be.an('object'));
  diagnostics.unsubscribe('http.server.request.start', listener);
  return { ...(seen as Emitters), ended };
}

/** Events without a connection, of the whole server. */
const OF_SERVER = new Set(['close', 'listening', 'error', 'newListener', 'removeListener']);

/** What an event of a server is about. */
function argsOf(event: string, { connection, request, answer }: Emitters): unknown[] {
  if (event === 'request') return [request, answer];
  if (event === 'upgrade') return [request, connection, Buffer.alloc(0)];
  return [connection];
}

/** Has each callback fail that Node calls for a connection: of every emitter, and every event that has a listener. */
export async function failEach(
  base: string,
  open: () => Promise<Emitters & { ended: Promise<void> }>,
): Promise<void> {
  const first = await open();
  let tried = 0;
  for (const kind of ['server', 'connection', 'request', 'answer'] as const)
    for (const event of first[kind].eventNames() as string[]) {
      if (kind === 'server' && OF_SERVER.has(event)) continue;
      const emitters = await open();
      const emitter = emitters[kind];
      emitter.prependOnceListener(event, fail);
      await failsOnce(
        new RegExp(`^${kind} ${String(event)}$`),
        () => void emitter.emit(event, ...(kind === 'server' ? argsOf(event, emitters) : [])),
        `${kind} ${event}`,
      );
      await emitters.ended;
      tried += 1;
    }
  expect(tried).to.be.greaterThan(8);
  (first.connection as Socket).destroy();
  expect((await fetch(`${base}/healthz`)).status).to.equal(200);
}
