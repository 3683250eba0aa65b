import type { ParameterizedContext } from 'koa';
import type { Domain } from '../domain/domain.js';
import type { Client } from '../domain/kernel/client.js';
import type { Session } from '../domain/members/index.js';
import type { Logger } from '../domain/platform/logger.js';

/** What the middleware list puts beside each request. */
export interface AppState {
  requestId: string;
  log: Logger;
  domain: Domain;
  client: Client;
  /** Whether a page of this origin is one we know by name, so that its cookie and its address count. */
  knownPage: (origin: string) => boolean;
  /** Set once a token was accepted. */
  session?: Session;
  /** The path pattern that answered, for logs and metrics. */
  route?: string;
}

export type AppContext = ParameterizedContext<AppState> & { params: Record<string, string> };

/**
 * Whether a token is needed: `required`, `optional` (a bad one is still refused), or `none` for the
 * calls that interface.md documents without an Authorization header and that judge it themselves.
 */
export type Auth = 'required' | 'optional' | 'none';
