import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { issueToken } from '../../domain/members/index.js';
import { loadConfig } from '../../domain/platform/config.js';
import type { Reply } from './api.js';
import type { TokenClaims } from './service.js';

/** What signs the tokens of services in processes of their own. */
const SECRET = 'a secret of the tests, long enough for HS256';

/** A service in a process of its own: for other settings, and for ends that would take the tests along. */
export interface ServiceProcess {
  http: string;
  gateway: string;
  child: ChildProcess;
  /** An adoption post, and the member (author@example.org) who wrote it. */
  saleNo: number;
  authorNo: number;
  token(email: string, claims?: TokenClaims): Promise<string>;
  /** One REST request, with a JSON body where there is one. */
  call<T = unknown>(
    method: string,
    path: string,
    json?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply<T>>;
  /** Log lines of level error and above so far. */
  errors(): string[];
  /** Those of level warn, where LOG_LEVEL is that low. */
  warnings(): string[];
  /** Ends it by a signal; resolves to its exit status when it has gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts one and resolves when both of its ports answer; rejects with its log when it does not start. */
export async function startServiceProcess(settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adoption-child-'));
  const env = {
    NODE_ENV: 'test',
    HTTP_PORT: '0',
    GATEWAY_PORT: '0',
    DATA_DIR: dataDir,
    JWT_SECRET: SECRET,
    DEMO: 'off',
    LOG_LEVEL: 'error',
    ...settings,
  };
  const config = loadConfig(env, dataDir);
  const child = fork(fileURLToPath(new URL('./child-service.js', import.meta.url)), [], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  const gone = once(child, 'exit').then(([status]) => {
    rmSync(dataDir, { recursive: true, force: true });
    return status as number | null;
  });
  const ready = await Promise.race([
    once(child, 'message').then(([message]) => message as Record<string, number>),
    gone.then((status) => {
      throw new Error(`the service ended with status ${status}:\n${log}`);
    }),
  ]);
  const http = `http://127.0.0.1:${ready.httpPort}`;
  const token = (email: string, { ttl = '1h', ...claims }: TokenClaims = {}) =>
    issueToken(config, { email, ...claims, ttl });
  return {
    http,
    gateway: `http://127.0.0.1:${ready.gatewayPort}`,
    child,
    saleNo: ready.saleNo as number,
    authorNo: ready.authorNo as number,
    token,
    async call<T>(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
      const answer = await fetch(http + path, {
        method,
        headers: { ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(40_000),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      const body = (isJson ? JSON.parse(text) : undefined) as T;
      return { status: answer.status, headers: answer.headers, text, body };
    },
    warnings: () => log.split('\n').filter((line) => line.includes('"level":40')),
    errors: () => log.split('\n').filter((line) => /"level":[56]0/.test(line)),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return gone;
    },
  };
}
