import type { z } from 'zod';
import type { Actor } from '../domain/kernel/actor.js';
import type { Client } from '../domain/kernel/client.js';
import { parseInput } from '../domain/kernel/input.js';
import type { AppContext, Auth } from './context.js';
import { authenticate } from './middleware/authenticate.js';
import { readJsonBody } from './middleware/json-body.js';
import { limit } from './middleware/limit.js';
import { respond } from './respond.js';

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface Request<A extends Auth, P, Q, B> {
  actor: A extends 'required' ? Actor : Actor | undefined;
  client: Client;
  params: Parsed<P>;
  query: Parsed<Q>;
  body: Parsed<B>;
  /** A HEAD request: answered like the GET, and nothing may change. (RFC 9110, 9.2.1) */
  peek: boolean;
  /** For what few routes need beyond the parsed input: cookies, the raw body, the response stream. */
  ctx: AppContext;
}

export interface RouteDefinition<
  A extends Auth = Auth,
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As @koa/router writes it: `/community/article/:articleId`. */
  path: string;
  auth: A;
  limit: 'read' | 'write';
  params?: P;
  query?: Q;
  body?: B;
  /** @returns the JSON body of the answer, or undefined where it has answered by itself */
  handle(request: Request<A, P, Q, B>): Promise<unknown>;
}

export interface Route {
  definition: RouteDefinition;
  run(ctx: AppContext): Promise<void>;
}

/**
 * A documented call as a checklist: limit, authenticate, validate, handle, respond, always in this
 * order. The handler sees parsed input alone.
 */
export function route<
  A extends Auth,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<A, P, Q, B>): Route {
  return {
    definition: definition as unknown as RouteDefinition,
    async run(ctx) {
      const actor = await authenticate(ctx, definition.auth);
      await limit(ctx, definition.limit, actor);
      const params = definition.params && parseInput(definition.params, ctx.params, 'path');
      const query = definition.query && parseInput(definition.query, ctx.query, 'query');
      const body = definition.body && parseInput(definition.body, await readJsonBody(ctx), 'body');
      const answer = await definition.handle({
        actor,
        client: ctx.state.client,
        params,
        query,
        body,
        peek: ctx.method === 'HEAD',
        ctx,
      } as Request<A, P, Q, B>);
      if (answer !== undefined) respond(ctx, answer);
    },
  };
}
