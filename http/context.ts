import type { ParameterizedContext } from 'koa';
import type { Domain } from '../domain/domain.js';
import type { Client } from '../domain/kernel/client.js';
import type { AppError } from '../domain/kernel/errors.js';
import type { Session } from '../domain/members/index.js';

/** State of a request, set by the middleware. */
export interface AppState {
  requestId: string;
  domain: Domain;
  client: Client;
  /** Of an accepted token. */
  session?: Session;
  /** Why the answer is an error, for the log. */
  failure?: AppError;
  /** Path pattern that matched, for logs and metrics. */
  route?: string;
}

export type AppContext = ParameterizedContext<AppState> & { params: Record<string, string> };

/** Whether a token is needed. A bad one is refused in either case. */
export type Auth = 'required' | 'optional';
