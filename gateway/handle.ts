import type { z } from 'zod';
import type { Domain } from '../domain/domain.js';
import type { Actor } from '../domain/kernel/actor.js';
import { parseInput } from '../domain/kernel/input.js';
import type { Live } from '../domain/kernel/live.js';
import { toAppError } from '../domain/platform/failures.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import type { Budget } from '../domain/platform/rate-limits/index.js';
import type { ClientEvents } from './protocol.js';
import type { Sequencer } from './sequencer.js';
import type { GatewaySocket } from './socket.js';

/** What every handler works with. */
export interface HandlerContext {
  domain: Domain;
  live: Live;
  sequencer: Sequencer;
  logger: Logger;
  socket: GatewaySocket;
}

/** One client event: its budget, what it accepts and what it does, in this order. */
export interface EventDefinition<S extends z.ZodType = z.ZodType> {
  event: keyof ClientEvents;
  limit: Budget;
  schema: S;
  /** @returns the fields beside `status: 200` of the acknowledgement, if there are any */
  handle(context: HandlerContext, actor: Actor, request: z.output<S>): Promise<object | undefined>;
}

/** Keeps a definition's types together. */
export function defineEvent<S extends z.ZodType>(definition: EventDefinition<S>): EventDefinition {
  return definition as unknown as EventDefinition;
}

/**
 * Registers a listener; the only way to do so. Whatever the handler throws becomes the answer, and a
 * client that sends no acknowledgement function, or something else in its place, gets none: either
 * would end the process if it reached Socket.IO. (contract, promise 7)
 */
export function register(context: HandlerContext, definition: EventDefinition): void {
  const { socket, domain, logger } = context;
  const { event, limit, schema, handle } = definition;

  async function run(request: unknown): Promise<object> {
    const { actor } = socket.data.session;
    await domain.rateLimits.take(limit, actor.no);
    const answer = await handle(context, actor, parseInput(schema, request, event));
    return { status: 200, ...answer };
  }

  function refuse(thrown: unknown): object {
    const error = toAppError(thrown);
    const about = { err: error.cause ?? error, event, member: socket.data.session.actor.no };
    if (error.status === 500) {
      metrics.unexpectedErrors.inc();
      logger.error(about, error.code);
    } else if (error.status === 503) {
      logger.warn(about, error.code);
    }
    return error.retryAfterMs === undefined
      ? error.body
      : { ...error.body, retryAfterMs: error.retryAfterMs };
  }

  socket.on(event, (...args: unknown[]) => {
    const last = args.at(-1);
    const ack = typeof last === 'function' ? (last as (answer: object) => void) : undefined;
    const request = typeof args[0] === 'function' ? undefined : args[0];
    run(request)
      .catch(refuse)
      .then((answer) => {
        metrics.socketRequests.inc({ event, status: (answer as { status: number }).status });
        ack?.(answer);
      })
      .catch((error) => logger.error({ err: error, event }, 'an answer could not be sent'));
  });
}
