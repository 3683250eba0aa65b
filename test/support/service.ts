import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from 'embedded-mongo/server';
import mongoose from 'mongoose';
import { issueToken } from '../../domain/members/index.js';
import { Shutdown } from '../../domain/platform/process/shutdown.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { runService } from '../../scripts/start/run-service.js';
import { engineSetting } from './engine.js';
import { createWatchedLogger } from './unexpected-errors.js';

/** Claims of a token beside the e-mail address. */
export interface TokenClaims {
  nickname?: string;
  profile?: string;
  role?: 'USER' | 'ADMIN';
  /** Time to live as jose reads it; `-1s` has expired. */
  ttl?: string;
}

/** A query that scanned a whole collection. */
interface CollectionScan {
  namespace: string;
  /** Its fields and operators, without values. */
  query: string;
  count: number;
}

/** Queries without an index since its start, as the embedded database counts them: MongoDB counts, but does not name them. */
export async function scansOf(database: {
  command(command: object): Promise<object>;
}): Promise<CollectionScan[]> {
  const { embedded } = (await database.command({ serverStatus: 1 })) as {
    embedded?: { collectionScans: CollectionScan[] };
  };
  return embedded?.collectionScans ?? [];
}

type TestService = Awaited<ReturnType<typeof startService>>;

let started: Promise<TestService> | undefined;

interface TestDatabase {
  uri: string;
  close(): Promise<void>;
}

/** A database for the tests: on MONGODB_URI if set, else embedded and in memory. @param name for MONGODB_URI */
export async function openDatabase(name: string): Promise<TestDatabase> {
  const given = process.env.MONGODB_URI;
  if (given) {
    const uri = new URL(given);
    uri.pathname = `/${name}`;
    return {
      uri: uri.href,
      close: async () => {
        const connection = await new mongoose.Mongoose().createConnection(uri.href).asPromise();
        await connection.dropDatabase();
        await connection.close();
      },
    };
  }
  return startEmbeddedMongo({ storage: 'memory', database: 'adoption' });
}

/** Starts the service in this process, at most one at a time. */
async function startService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'adoption-test-'));
  const ports = { HTTP_PORT: '0', GATEWAY_PORT: '0' };
  const env = {
    ...engineSetting,
    NODE_ENV: 'test',
    ...ports,
    DATA_DIR: dataDir,
    RATE_LIMIT: 'off',
    DEMO: 'off',
  };
  const config = loadConfig(env, dataDir);
  const database = await openDatabase(`adoption_test_${process.pid}`);
  const logger = createWatchedLogger();
  const shutdown = new Shutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
  const { domain, httpPort, gatewayPort } = await runService(config, logger, database.uri, shutdown);
  return {
    /** Base address of REST and event streams. */
    http: `http://127.0.0.1:${httpPort}`,
    /** Base address of the sockets. */
    gateway: `http://127.0.0.1:${gatewayPort}`,
    /** Its database, for a command beside it. */
    mongoUri: database.uri,
    domain,
    config,
    token: (email: string, { ttl = '1h', ...claims }: TokenClaims = {}) =>
      issueToken(config, { email, ...claims, ttl }),
    collectionScans: () => scansOf(mongoose.connection.getClient().db()),
    async stop(): Promise<void> {
      await shutdown.begin('the tests are done');
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The service in this process: started at first use, stopped after each file by the root hook. */
export function service(): Promise<TestService> {
  started ??= startService();
  return started;
}

/** Queries without an index of services that were stopped, until they are taken. */
const scans: CollectionScan[] = [];

/** Stops it, if it was started. */
export async function stopService(): Promise<void> {
  const running = await started;
  started = undefined;
  scans.push(...((await running?.collectionScans()) ?? []));
  await running?.stop();
}

/** @returns the queries without an index of the services that were stopped, each once */
export const takeScans = (): CollectionScan[] => scans.splice(0);
