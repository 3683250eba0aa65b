import { expect } from 'chai';
import { z } from 'zod';
import type { Domain } from '../../../domain/domain.js';
import { AppError } from '../../../domain/kernel/errors.js';
import type { Live } from '../../../domain/kernel/live.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { RequestLog } from '../../../domain/platform/observe/request-log.js';
import { Overload } from '../../../domain/platform/process/overload.js';
import type { Budget } from '../../../domain/platform/rate-limits/index.js';
import type { GatewaySocket } from '../../../gateway/connection/socket.js';
import { createDispatcher, defineEvent, type EventDefinition } from '../../../gateway/events/handle.js';
import { clientEvents } from '../../../gateway/events/index.js';
import type { Sequencer } from '../../../gateway/order/sequencer.js';
import { counted } from '../../support/counted.js';
import { createWatchedLogger, takeErrors } from '../../support/unexpected-errors.js';
import { settled } from '../order/sequenced-room.js';

const MEMBER = 7;

/** A connection and the dispatcher of its events. */
function build(definitions: readonly EventDefinition[]) {
  const taken: unknown[][] = [];
  const state = { refused: undefined as Error | undefined };
  const rateLimits = {
    async take(budget: Budget, key: string | number): Promise<void> {
      taken.push([budget, key]);
      if (state.refused) throw state.refused;
    },
  };
  const overload = new Overload(createWatchedLogger(), 30);
  const socket = {
    connected: true,
    data: { session: { actor: { no: MEMBER } } },
  } as GatewaySocket;
  const logger = createWatchedLogger();
  const dispatch = createDispatcher(
    {
      domain: { rateLimits, overload } as unknown as Domain,
      ...{ live: {} as Live, sequencer: {} as Sequencer, logger, requests: new RequestLog(logger, 'off') },
    },
    definitions,
  );
  return {
    ...{ taken, state, socket, overload },
    /** Sends an event. @returns its answers */
    async send(event: unknown, ...args: unknown[]): Promise<unknown[]> {
      const answers: unknown[] = [];
      dispatch.call(socket, event, ...args, (...answer: unknown[]) => answers.push(...answer));
      await settled();
      return answers;
    },
    emit: (event: unknown, ...args: unknown[]) => dispatch.call(socket, event, ...args),
  };
}

/** A connection with one event, `typing`, and the requests it has handled. */
function eventThat(handle: () => Promise<object | undefined>) {
  const handled: unknown[] = [];
  const definition = defineEvent({
    event: 'typing',
    limit: 'socketEvent',
    schema: z.object({ chatNo: z.number() }),
    async handle(_context, _actor, request) {
      handled.push(request);
      return handle();
    },
  });
  return { ...build([definition]), handled };
}

const requests = (event: string, status: number) => counted(metrics.socketRequests, { event, status });
const unexpected = () => counted(metrics.unexpectedErrors);

describe('the dispatcher of client events', () => {
  it('takes each event’s budget before it looks at the request', async () => {
    const { send, taken, state } = build(clientEvents);
    state.refused = new AppError('RATE_LIMITED', 'too many', { retryAfterMs: 700 });
    const answer = { status: 429, message: 'RATE_LIMITED', errors: ['too many'], retryAfterMs: 700 };
    const budgets = {
      ...{ 'room:join': 'socketEvent', 'room:leave': 'socketEvent', 'message:send': 'message' },
      ...{ 'message:read': 'socketEvent', typing: 'socketEvent', 'auth:refresh': 'socketEvent' },
    };
    for (const event of Object.keys(budgets)) expect(await send(event, {}), event).to.deep.equal([answer]);
    expect(taken).to.deep.equal(Object.values(budgets).map((budget) => [budget, MEMBER]));
    expect(clientEvents).to.have.length(taken.length);
  });

  it('answers once, with the fields that the handler returns', async () => {
    const { send, handled } = eventThat(async () => ({ more: 1 }));
    const before = await requests('typing', 200);
    expect(await send('typing', { chatNo: 1, unknown: true })).to.deep.equal([{ status: 200, more: 1 }]);
    expect(handled).to.deep.equal([{ chatNo: 1 }]);
    expect(await requests('typing', 200)).to.equal(before + 1);
  });

  it('refuses invalid input, names the field, and does not call the handler', async () => {
    const { send, handled } = eventThat(async () => undefined);
    const before = await requests('typing', 400);
    for (const [args, error] of [
      [[{ chatNo: 'x' }], /^chatNo: /],
      [[], /^typing: is missing$/],
    ] as const) {
      const [answer] = (await send('typing', ...args)) as [{ message: string; errors: string[] }];
      expect(answer).to.include({ status: 400, message: 'INVALID_INPUT' });
      expect(answer.errors[0]).to.match(error);
    }
    expect(handled).to.deep.equal([]);
    expect(await requests('typing', 400)).to.equal(before + 2);
  });

  const faults: [error: Error, status: number, logged: boolean, retryAfterMs?: number][] = [
    [new TypeError('a fault of ours'), 500, true],
    [new AppError('SERVICE_UNAVAILABLE', 'the database is away'), 503, false, 1_000],
    [new AppError('FORBIDDEN', 'not yours'), 403, false],
  ];
  for (const [error, status, logged, retryAfterMs] of faults) {
    it(`answers ${error.name} with ${status}, and ${logged ? 'logs and counts it' : 'logs nothing'}`, async () => {
      const { send } = eventThat(() => Promise.reject(error));
      const before = [await unexpected(), await requests('typing', status)] as const;
      const [answer] = (await send('typing', { chatNo: 1 })) as [object];
      expect(answer).to.include({ status });
      expect('retryAfterMs' in answer ? answer.retryAfterMs : undefined).to.equal(retryAfterMs);
      expect(JSON.stringify(answer)).not.to.include('a fault of ours');
      const lines = takeErrors();
      expect(lines).to.have.length(logged ? 1 : 0);
      if (logged) expect(lines[0]).to.include('a fault of ours');
      expect(await unexpected()).to.equal(before[0] + (logged ? 1 : 0));
      expect(await requests('typing', status)).to.equal(before[1] + 1);
    });
  }

  it('answers an unknown event with 404 and its shortened name, counts all as `unknown`, and charges them', async () => {
    const { send, emit, taken, state } = build(clientEvents);
    const before = await requests('unknown', 404);
    expect(await send('x'.repeat(100))).to.deep.equal([
      { status: 404, message: 'UNKNOWN_EVENT', errors: [`no such event: ${'x'.repeat(64)}`] },
    ]);
    emit({ no: 'text' });
    await settled();
    expect(taken).to.deep.equal([
      ['socketEvent', MEMBER],
      ['socketEvent', MEMBER],
    ]);
    expect(await requests('unknown', 404)).to.equal(before + 2);
    state.refused = new AppError('RATE_LIMITED', 'too many');
    expect((await send('x'))[0]).to.include({ status: 429 });
  });

  it('drops an event whose connection has closed', async () => {
    const { send, socket, handled, taken } = eventThat(async () => undefined);
    Object.assign(socket, { connected: false });
    expect(await send('typing', { chatNo: 1 })).to.deep.equal([]);
    expect(await send('nothing')).to.deep.equal([]);
    expect([handled, taken]).to.deep.equal([[], []]);
  });

  it('handles an event without an acknowledgement', async () => {
    const { emit, handled } = eventThat(async () => undefined);
    emit('typing', { chatNo: 1 });
    emit('typing', { chatNo: 2 }, 'no function');
    emit('typing');
    await settled();
    expect(handled).to.deep.equal([{ chatNo: 1 }, { chatNo: 2 }]);
  });

  it('logs an answer that cannot be sent', async () => {
    const { emit } = eventThat(async () => undefined);
    emit('typing', { chatNo: 1 }, () => {
      throw new Error('not to be sent');
    });
    await settled();
    expect(takeErrors().join()).to.include('not to be sent');
  });
});
