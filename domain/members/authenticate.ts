import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { createCache } from '../platform/cache.js';
import type { MemberDirectory } from './member-directory.js';
import { recordMember } from './record-member.js';
import type { Claims } from './verify-token.js';

/** Who calls, and until when the token speaks for them (epoch ms). */
export interface Session {
  readonly actor: Actor;
  readonly expiresAt: number;
}

/** How long, in ms, a token that was accepted is accepted again without asking key and database. */
const TRUSTED_MS = 10_000;

/**
 * @returns a function that turns a token into its member. An accepted token is remembered for a few
 *   seconds: checking a signature costs more than most requests that carry it.
 * @throws AppError UNAUTHORIZED or TOKEN_EXPIRED (the returned function)
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
    const actor = await recordMember(clock, claims);
    directory.remember(actor);
    const session = { actor, expiresAt: claims.expiresAt * 1_000 };
    accepted.set(token, session);
    return session;
  };
}
