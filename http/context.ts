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
  originAllowed: (origin: string) => boolean;
  /** Set once a token was accepted. */
  session?: Session;
  /** The path pattern that answered, for logs and metrics. */
  route?: string;
}

export type AppContext = ParameterizedContext<AppState> & { params: Record<string, string> };
