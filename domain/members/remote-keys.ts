import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../kernel/clock.js';
import { singleFlight } from '../platform/single-flight.js';

/** Age, in ms, from which the set is fetched anew, so that a withdrawn key is not trusted for ever. */
const FRESH_MS = 10 * 60_000;

/** Least time, in ms, between two fetches that a key id we do not know asks for. */
const UNKNOWN_KEY_COOL_DOWN_MS = 30_000;

/** Least time, in ms, between two fetches while they fail. */
const FAILURE_COOL_DOWN_MS = 5_000;

/** Longest time, in ms, a fetch may take. */
const FETCH_MS = 3_000;

async function fetchKeys(url: URL): Promise<JWTVerifyGetKey> {
  const answer = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_MS),
    headers: { Accept: 'application/jwk-set+json, application/json' },
  });
  if (answer.status !== 200) throw new Error(`the key set answers ${answer.status}`);
  // Throws for anything that is not a key set.
  return createLocalJWKSet((await answer.json()) as JSONWebKeySet);
}

/**
 * The keys of a JSON Web Key Set at an address. The set that was read last stays in use while a new one
 * cannot be had, and neither an outage nor a flood of unknown key ids costs more than one fetch per
 * cool-down: jose's own remote set stops taking known keys once its ten minutes are over, and waits for
 * a fetch with every token while the address is down (fault 8).
 *
 * @throws whatever the first fetch threw, until one has succeeded (the returned function)
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
    // Nobody waits for a new set while there is an old one.
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
