import type { z } from 'zod';
import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { AppError } from '../../domain/kernel/errors.js';
import { parseInput } from '../../domain/kernel/input.js';
import type { Live } from '../../domain/kernel/live.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { metrics, secondsSince } from '../../domain/platform/observe/metrics.js';
import type { RequestLog } from '../../domain/platform/observe/request-log.js';
import { traced } from '../../domain/platform/observe/tracing.js';
import { toAppError } from '../../domain/platform/process/failures.js';
import type { Budget } from '../../domain/platform/rate-limits/index.js';
import type { GatewaySocket } from '../connection/socket.js';
import { enqueue } from '../connection/socket-queue.js';
import type { Sequencer } from '../order/sequencer.js';
import type { ClientEvents } from '../protocol.js';

/** What all handlers share. */
export interface HandlerServices {
  domain: Domain;
  live: Live;
  sequencer: Sequencer;
  logger: Logger;
  requests: RequestLog;
}

export interface HandlerContext extends HandlerServices {
  socket: GatewaySocket;
  /** When the event arrived, by performance.now(). */
  arrivedAt: number;
}

/** A client event: its budget, its input and its handler, applied in this order. */
export interface EventDefinition<S extends z.ZodType = z.ZodType> {
  event: keyof ClientEvents;
  limit: Budget;
  schema: S;
  /** Whether it waits for those before it of its connection, as joins and leaves do. */
  inOrder?: true;
  /** @returns the acknowledgement's fields besides `status: 200` */
  handle(context: HandlerContext, actor: Actor, request: z.output<S>): Promise<object | undefined>;
}

/** Infers the handler's request type from the schema. */
export function defineEvent<S extends z.ZodType>(definition: EventDefinition<S>): EventDefinition {
  return definition as unknown as EventDefinition;
}

/** The acknowledgement of a request that is refused. */
function bodyOf({ body, retryAfterMs }: AppError): object {
  return retryAfterMs === undefined ? body : { ...body, retryAfterMs };
}

/**
 * Creates the listener for all events of all connections (`createSharedListening`): one per connection and event would
 * be a third of a connection's memory.
 *
 * An error that a handler throws becomes the answer, and so does an unknown event. Without an acknowledgement
 * function, or with something else in its place, nothing is answered: calling it would end the process.
 * (contract, promise 7)
 */
export function createDispatcher(services: HandlerServices, definitions: readonly EventDefinition[]) {
  const { domain, logger, requests } = services;
  const byEvent = new Map<unknown, EventDefinition>(
    definitions.map((definition) => [definition.event, definition]),
  );

  async function refuseUnknown(socket: GatewaySocket, name: unknown): Promise<never> {
    await domain.rateLimits.take('socketEvent', socket.data.session.actor.no);
    throw new AppError('UNKNOWN_EVENT', `no such event: ${String(name).slice(0, 64)}`);
  }

  async function run(
    socket: GatewaySocket,
    definition: EventDefinition,
    request: unknown,
    arrivedAt: number,
  ): Promise<object> {
    const refused = domain.overload.refuse('event');
    if (refused) return bodyOf(refused);
    const { event, limit, schema, inOrder, handle } = definition;
    const { actor } = socket.data.session;
    await domain.rateLimits.take(limit, actor.no);
    const input = parseInput(schema, request, event);
    const work = () => domain.overload.follow(handle({ ...services, socket, arrivedAt }, actor, input));
    // What waits for its own connection is not under way: a member's burst would have everybody refused.
    const answer = await (inOrder ? enqueue(socket, work) : work());
    return { status: 200, ...answer };
  }

  async function serve(
    socket: GatewaySocket,
    name: unknown,
    request: unknown,
    ack: ((answer: object) => void) | undefined,
  ): Promise<void> {
    const arrivedAt = performance.now();
    const definition = byEvent.get(name);
    const event = definition?.event ?? 'unknown';
    let answer: object;
    let failure: AppError | undefined;
    try {
      answer = await (definition
        ? traced(`socket ${event}`, {}, () => run(socket, definition, request, arrivedAt))
        : refuseUnknown(socket, name));
    } catch (thrown) {
      failure = toAppError(thrown);
      answer = bodyOf(failure);
    }
    try {
      ack?.(answer);
      const { status } = answer as { status: number };
      const seconds = secondsSince(arrivedAt);
      metrics.socketRequests.observe({ event, status }, seconds);
      const describe = () => ({
        socket: socket.id,
        event,
        status,
        ms: Math.round(seconds * 1e4) / 10,
        member: socket.data.session.actor.no,
      });
      requests.answered(status, describe, failure);
    } catch (error) {
      logger.error({ socket: socket.id, event, err: error }, 'an answer could not be sent');
    }
  }

  return function dispatch(this: GatewaySocket, name: unknown, ...args: unknown[]): void {
    // The event was under way when the connection closed.
    if (!this.connected) return;
    const last = args.at(-1);
    const ack = typeof last === 'function' ? (last as (answer: object) => void) : undefined;
    const request = typeof args[0] === 'function' ? undefined : args[0];
    void serve(this, name, request, ack);
  };
}
