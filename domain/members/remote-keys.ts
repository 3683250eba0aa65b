import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../kernel/clock.js';
import { joinRunning } from '../platform/async/shared-runs.js';
import type { Logger } from '../platform/observe/logger.js';
import { metrics } from '../platform/observe/metrics.js';

/** Age, ms, at which the set is fetched again, so that withdrawn keys expire. */
const FRESH_MS = 10 * 60_000;

/** Shortest time, ms, between fetches because of unknown key ids. */
const UNKNOWN_KEY_COOL_DOWN_MS = 30_000;

/** Shortest time, ms, between failing fetches. */
const FAILURE_COOL_DOWN_MS = 5_000;

/** Time limit of a fetch, headers and body, ms. */
export const FETCH_MS = 3_000;

/** Largest key set, bytes: real ones have a few kB. */
export const MAX_SET = 1024 * 1024;

/** @throws Error when the body breaks off or exceeds MAX_SET */
async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_SET) throw new Error(`the key set is larger than ${MAX_SET} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Not by `fetch`: once its request is garbage-collected, aborting no longer ends the wait for a body that stalls, and
 * every token waits for that body.
 */
async function fetchKeys(url: URL): Promise<JWTVerifyGetKey> {
  const { get } = url.protocol === 'https:' ? https : http;
  const request = get(url, {
    agent: false,
    headers: { Accept: 'application/jwk-set+json, application/json' },
  });
  // Destroyed while its body is read, the request fails as well as the body.
  request.on('error', () => {});
  const timer = setTimeout(
    () => request.destroy(new Error(`the key set does not arrive in ${FETCH_MS} ms`)),
    FETCH_MS,
  );
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`the key set answers ${response.statusCode}`);
    // Throws unless it is a key set.
    return createLocalJWKSet(JSON.parse(await readBody(response)) as JSONWebKeySet);
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

/**
 * The keys of a JSON Web Key Set. The last set stays in use while no newer one can be fetched, and neither
 * an outage nor a flood of unknown key ids causes more than one fetch per cool-down. jose's own remote set
 * refuses known keys after ten minutes of outage and waits for a fetch with every token (fault 8).
 *
 * @param logger told once of each outage
 * @returns a function that rejects with the fetch's error until one has succeeded
 */
export function createRemoteKeys(url: URL, clock: Clock, logger: Logger): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  /** Of the last fetch, if it failed. */
  let failure: unknown;

  /** Whether less than this time has passed, ms. If the clock was set back, it counts as passed. */
  const isWithin = (ms: number, since: number) => clock.now() >= since && clock.now() < since + ms;

  const refresh = joinRunning(async () => {
    if (isWithin(FAILURE_COOL_DOWN_MS, failedAt)) return;
    try {
      keys = await fetchKeys(url);
      fetchedAt = clock.now();
      if (failure) logger.info('JWKS_URL: the key set is fetched again');
      failure = undefined;
    } catch (error) {
      metrics.keySetFailures.inc();
      // Once per outage: every token may cause a fetch. The host alone: an address may hold a password.
      if (!failure)
        logger.warn(`JWKS_URL: the key set at ${url.host} cannot be fetched (${(error as Error).message})`);
      failure = error;
      failedAt = clock.now();
    }
  });

  // An operator learns at the start that it cannot be fetched, not from the first member.
  void refresh();

  return async (header, token) => {
    if (!keys) await refresh();
    // In the background: the old set stays in use.
    else if (!isWithin(FRESH_MS, fetchedAt)) void refresh();
    if (!keys) throw failure;
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || isWithin(UNKNOWN_KEY_COOL_DOWN_MS, fetchedAt)) throw error;
      await refresh();
      return keys(header, token);
    }
  };
}
