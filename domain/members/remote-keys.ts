import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../kernel/clock.js';
import { singleFlight } from '../platform/single-flight.js';

/** Age, ms, at which the set is fetched again, so that withdrawn keys expire. */
const FRESH_MS = 10 * 60_000;

/** Shortest time, ms, between fetches because of unknown key ids. */
const UNKNOWN_KEY_COOL_DOWN_MS = 30_000;

/** Shortest time, ms, between failing fetches. */
const FAILURE_COOL_DOWN_MS = 5_000;

/** Time limit of a fetch, ms. */
const FETCH_MS = 3_000;

async function fetchKeys(url: URL): Promise<JWTVerifyGetKey> {
  const answer = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_MS),
    headers: { Accept: 'application/jwk-set+json, application/json' },
  });
  if (answer.status !== 200) throw new Error(`the key set answers ${answer.status}`);
  // Throws unless it is a key set.
  return createLocalJWKSet((await answer.json()) as JSONWebKeySet);
}

/**
 * The keys of a JSON Web Key Set. The last set stays in use while no newer one can be fetched, and neither
 * an outage nor a flood of unknown key ids causes more than one fetch per cool-down. jose's own remote set
 * refuses known keys after ten minutes of outage and waits for a fetch with every token (fault 8).
 *
 * @returns a function that rejects with the fetch's error until one has succeeded
 */
export function createRemoteKeys(url: URL, clock: Clock): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;

  const refresh = singleFlight(async () => {
    if (clock.now() < failedAt + FAILURE_COOL_DOWN_MS) return;
    try {
      keys = await fetchKeys(url);
      fetchedAt = clock.now();
    } catch (error) {
      failure = error;
      failedAt = clock.now();
    }
  });

  return async (header, token) => {
    if (!keys) await refresh();
    // In the background: the old set stays in use.
    else if (clock.now() >= fetchedAt + FRESH_MS) void refresh();
    if (!keys) throw failure;
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || clock.now() < fetchedAt + UNKNOWN_KEY_COOL_DOWN_MS) throw error;
      await refresh();
      return keys(header, token);
    }
  };
}
