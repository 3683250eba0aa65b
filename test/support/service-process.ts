import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueToken } from '../../domain/members/index.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { createTestProcess } from './child-process.js';
import { restClient } from './rest.js';
import type { TokenClaims } from './service.js';

/** Signs the tokens of service processes. */
const SECRET = 'a secret of the tests, long enough for HS256';

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

/**
 * Starts a service in a process of its own, for other settings and for ends that would take the tests along.
 * Resolves when both of its ports answer; rejects with its log when it does not start.
 *
 * @param files how many it may have open
 * @param build folder of another compiled build than that of the tests
 */
export async function startServiceProcess(
  settings: Record<string, string> = {},
  { files, build }: { files?: number; build?: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-child-'));
  const env = {
    NODE_ENV: 'test',
    HTTP_PORT: '0',
    GATEWAY_PORT: '0',
    DATA_DIR: folder,
    JWT_SECRET: SECRET,
    DEMO: 'off',
    // A busy machine would make it refuse requests.
    LOAD_SHEDDING: 'off',
    LOG_LEVEL: 'error',
    ...settings,
  };
  const config = loadConfig(env, folder);
  const path = 'test/support/child-service.js';
  const child = createTestProcess({ name: 'service', path, build, folder, env, files });
  const ready = (await child.start()) as Record<
    'httpPort' | 'gatewayPort' | 'saleNo' | 'authorNo',
    number
  > & { mongoUri: string };
  const http = `http://127.0.0.1:${ready.httpPort}`;
  return {
    http,
    gateway: `http://127.0.0.1:${ready.gatewayPort}`,
    /** Its database, for a look at it from outside. */
    mongoUri: ready.mongoUri,
    /** Of a command beside it. */
    settings: { DATA_DIR: folder, MONGODB_URI: ready.mongoUri, JWT_SECRET: SECRET },
    /** An adoption post, and the number of its author, author@example.org. */
    saleNo: ready.saleNo,
    authorNo: ready.authorNo,
    token: (email: string, { ttl = '1h', ...claims }: TokenClaims = {}) =>
      issueToken(config, { email, ...claims, ttl }),
    /** Requests without a token. */
    anyone: restClient(() => http),
    /** Requests under a token. */
    as: (token: string) => restClient(() => http, token),
    process: child,
    errors: child.errors,
    /** Log lines of level warn, where LOG_LEVEL is that low. */
    warnings: child.warnings,
    /** Ends it by a signal; resolves to its exit status. */
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      const status = await child.kill(signal);
      rmSync(folder, { recursive: true, force: true });
      return status;
    },
  };
}
