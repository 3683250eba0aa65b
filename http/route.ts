import type { z } from 'zod';
import type { Actor } from '../domain/kernel/actor.js';
import type { Client } from '../domain/kernel/client.js';
import type { ErrorCode } from '../domain/kernel/errors.js';
import { parseInput } from '../domain/kernel/input.js';
import type { AppContext, Auth } from './context.js';
import { authenticate } from './middleware/authenticate.js';
import { limit } from './middleware/limit.js';
import { MAX_BODY, readFormBody, readJsonBody } from './read-body.js';
import { DONE, NO_STORE, respond } from './respond.js';

type Schema = z.ZodType | undefined;
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface Request<A extends Auth, P, Q, B> {
  actor: A extends 'required' ? Actor : Actor | undefined;
  client: Client;
  params: Parsed<P>;
  query: Parsed<Q>;
  body: Parsed<B>;
  /** A HEAD request: answered like the GET, without side effects. (RFC 9110, 9.2.1) */
  peek: boolean;
  /** For cookies and the response stream, which few routes need. */
  ctx: AppContext;
}

/** The texts of a call in the API documents, besides those of its schemas. */
export interface RouteNotes {
  /** Name of the call in the OpenAPI document, unique. */
  id: string;
  tag: string;
  summary: string;
  description: string;
  /** The call's own errors, each with a reason as an example. */
  errors?: Partial<Record<ErrorCode, string>>;
  /** Request headers of this call alone. */
  headers?: z.ZodObject;
  /** What `body` accepts, where its schema cannot be converted. */
  bodyShown?: z.ZodType;
  /** Headers of the answer; its Content-Type where it is not JSON. */
  answerHeaders?: Record<string, string>;
  /** Whether the session cookie may replace a token. (contract, section 4) */
  cookie?: boolean;
}

export interface RouteDefinition<
  A extends Auth = Auth,
  P extends Schema = Schema,
  Q extends Schema = Schema,
  B extends Schema = Schema,
  R extends Schema = Schema,
> extends RouteNotes {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** In the notation of @koa/router: `/community/article/:articleId`. */
  path: string;
  auth: A;
  limit: 'read' | 'list' | 'write';
  params?: P;
  query?: Q;
  body?: B;
  /** How the body is encoded; JSON by default. */
  encoding?: 'form';
  /** Most bytes of a JSON body; MAX_BODY by default. */
  maxBody?: number;
  /** Refuses callers whom no body could help, before it is read. @throws AppError */
  admit?(actor: Actor | undefined): void;
  /** The JSON body of the answer; without it the answer is `{"status":200}`. */
  answer?: R;
  /** @returns the answer; undefined if the handler has written the response itself */
  handle(request: Request<A, P, Q, B>): Promise<R extends z.ZodType ? z.output<R> | undefined : unknown>;
}

export interface Route {
  definition: RouteDefinition;
  run(ctx: AppContext): Promise<void>;
}

const readBody = (ctx: AppContext, { encoding, maxBody }: RouteDefinition): Promise<unknown> =>
  encoding === 'form' ? readFormBody(ctx) : readJsonBody(ctx, maxBody ?? MAX_BODY);

/** Runs a documented call: authenticate, limit, validate, handle, respond, always in this order. */
export function route<
  A extends Auth,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  R extends Schema = undefined,
>(definition: RouteDefinition<A, P, Q, B, R>): Route {
  return {
    definition: definition as unknown as RouteDefinition,
    async run(ctx) {
      const { auth, cookie } = definition;
      if (auth === 'required' || cookie || ctx.get('Authorization')) ctx.set(NO_STORE);
      const actor = await authenticate(ctx, auth);
      await limit(ctx, definition.limit, actor);
      const params = definition.params && parseInput(definition.params, ctx.params, 'path');
      const query = definition.query && parseInput(definition.query, ctx.query, 'query');
      definition.admit?.(actor);
      const body = definition.body && parseInput(definition.body, await readBody(ctx, definition), 'body');
      const { client, domain } = ctx.state;
      const request = { actor, client, params, query, body, peek: ctx.method === 'HEAD', ctx };
      const answer = await domain.overload.follow(definition.handle(request as Request<A, P, Q, B>));
      if (!definition.answer) respond(ctx, DONE);
      else if (answer !== undefined) respond(ctx, answer);
    },
  };
}
