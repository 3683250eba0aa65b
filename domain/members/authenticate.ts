import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { createCache } from '../platform/async/cache.js';
import type { MemberDirectory } from './member-directory.js';
import { recordMember, toActor } from './record-member.js';
import type { Claims } from './verify-token.js';

/** The caller, and the expiry of their token (epoch ms). */
export interface Session {
  readonly actor: Actor;
  readonly expiresAt: number;
}

/** Time, ms, for which an accepted token is not verified again. */
const TRUSTED_MS = 10_000;

/**
 * @returns a function that resolves a token to its member and rejects with AppError UNAUTHORIZED or
 *   TOKEN_EXPIRED. Accepted tokens are cached: verifying a signature costs more than most requests.
 */
export function createAuthenticator(
  clock: Clock,
  verifyToken: (token: string) => Promise<Claims>,
  directory: MemberDirectory,
) {
  const accepted = createCache<string, Session>(20_000, TRUSTED_MS);

  return async function authenticate(token: string): Promise<Session> {
    const known = accepted.get(token);
    if (known) {
      if (known.expiresAt <= clock.now()) throw new AppError('TOKEN_EXPIRED');
      return known;
    }
    const claims = await verifyToken(token);
    const actor = toActor(await recordMember(clock, claims), claims.claimedRole);
    directory.remember(actor);
    const session = { actor, expiresAt: claims.expiresAt * 1_000 };
    accepted.set(token, session);
    return session;
  };
}
