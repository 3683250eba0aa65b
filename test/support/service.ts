import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import type { Domain } from '../../domain/domain.js';
import { issueToken } from '../../domain/members/index.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import { startEmbeddedMongo } from '../../scripts/embedded-mongo/server.js';
import { runService } from '../../scripts/run-service.js';
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
export interface CollectionScan {
  namespace: string;
  /** Its fields and operators, without values. */
  query: string;
  count: number;
}

export interface TestService {
  /** Base address of REST and event streams. */
  http: string;
  /** Base address of the sockets. */
  gateway: string;
  domain: Domain;
  config: Config;
  token(email: string, claims?: TokenClaims): Promise<string>;
  /** Queries of this run without an index, as counted by the embedded database. */
  collectionScans(): Promise<CollectionScan[]>;
  stop(): Promise<void>;
}

let started: Promise<TestService> | undefined;

/** A database for this process: on MONGODB_URI if set, else embedded and in memory. */
async function openDatabase(): Promise<{ uri: string; close(): Promise<void> }> {
  const given = process.env.MONGODB_URI;
  if (given) {
    const uri = new URL(given);
    uri.pathname = `/adoption_test_${process.pid}`;
    return {
      uri: uri.href,
      close: async () => {
        await mongoose.connect(uri.href);
        await mongoose.connection.dropDatabase();
        await mongoose.disconnect();
      },
    };
  }
  return startEmbeddedMongo({ storage: 'memory' });
}

async function start(): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adoption-test-'));
  const config = loadConfig(
    {
      NODE_ENV: 'test',
      HTTP_PORT: '0',
      GATEWAY_PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMIT: 'off',
      DEMO: 'off',
    },
    dataDir,
  );
  const database = await openDatabase();
  const { domain, httpPort, gatewayPort, shutdown } = await runService(
    config,
    createWatchedLogger(),
    database.uri,
  );
  return {
    http: `http://127.0.0.1:${httpPort}`,
    gateway: `http://127.0.0.1:${gatewayPort}`,
    domain,
    config,
    token: (email, { ttl = '1h', ...claims } = {}) => issueToken(config, { email, ...claims, ttl }),
    async collectionScans() {
      const status = await mongoose.connection.db?.command({ serverStatus: 1 });
      // MongoDB itself counts scans, but does not name the queries.
      return (status?.embedded as { collectionScans: CollectionScan[] } | undefined)?.collectionScans ?? [];
    },
    async stop() {
      await shutdown.begin('the tests are done');
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The service in this process: started at first use, stopped after each file by the root hook. */
export function service(): Promise<TestService> {
  started ??= start();
  return started;
}

/**
 * Stops it, if it was started.
 * @returns the queries of the run without an index
 */
export async function stopService(): Promise<CollectionScan[]> {
  const running = await started;
  started = undefined;
  const scans = (await running?.collectionScans()) ?? [];
  await running?.stop();
  return scans;
}
