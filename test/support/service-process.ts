import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueToken } from '../../domain/members/index.js';
import { loadConfig } from '../../domain/platform/config.js';
import { createTestProcess } from './child-process.js';
import { type RestClient, restClient } from './rest.js';
import type { TokenClaims } from './service.js';

/** Signs the tokens of service processes. */
const SECRET = 'a secret of the tests, long enough for HS256';

/** A service in a process of its own, for other settings and for ends that would take the tests along. */
export interface ServiceProcess {
  http: string;
  gateway: string;
  /** An adoption post, and the number of its author, author@example.org. */
  saleNo: number;
  authorNo: number;
  token(email: string, claims?: TokenClaims): Promise<string>;
  /** Requests without a token. */
  anyone: RestClient;
  /** Requests under a token. */
  as(token: string): RestClient;
  /** Log lines of level error and above so far. */
  errors(): string[];
  /** Log lines of level warn, where LOG_LEVEL is that low. */
  warnings(): string[];
  /** Ends it by a signal; resolves to its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts one and resolves when both of its ports answer; rejects with its log when it does not start. */
export async function startServiceProcess(settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-child-'));
  const env = {
    ...{ NODE_ENV: 'test', HTTP_PORT: '0', GATEWAY_PORT: '0', DATA_DIR: folder },
    ...{ JWT_SECRET: SECRET, DEMO: 'off', LOG_LEVEL: 'error' },
    ...settings,
  };
  const config = loadConfig(env, folder);
  const child = createTestProcess({ name: 'service', path: 'test/support/child-service.js', folder, env });
  const ready = (await child.start()) as Record<'httpPort' | 'gatewayPort' | 'saleNo' | 'authorNo', number>;
  const http = `http://127.0.0.1:${ready.httpPort}`;
  return {
    http,
    gateway: `http://127.0.0.1:${ready.gatewayPort}`,
    saleNo: ready.saleNo,
    authorNo: ready.authorNo,
    token: (email, { ttl = '1h', ...claims } = {}) => issueToken(config, { email, ...claims, ttl }),
    anyone: restClient(() => http),
    as: (token) => restClient(() => http, token),
    errors: child.errors,
    warnings: child.warnings,
    async stop(signal = 'SIGTERM') {
      const status = await child.kill(signal);
      rmSync(folder, { recursive: true, force: true });
      return status;
    },
  };
}
