import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import type { Check } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/mongo/sequence.model.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Config } from '../platform/settings/config.js';
import { createAuthenticator } from './authenticate.js';
import { Member } from './member.model.js';
import { createMemberDirectory } from './member-directory.js';
import { type MemberFacts, recordMember, toActor } from './record-member.js';
import { type SavedMember, saveMembers } from './save-members.js';
import { loadSigningKey } from './signing-key.js';
import { createTokenVerifier } from './verify-token.js';

export type { Session } from './authenticate.js';
export { issueToken } from './issue-token.js';
export type { MemberDirectory } from './member-directory.js';
export { saveMembers } from './save-members.js';
export { MAX_NAME, MAX_PICTURE, shownName, shownPicture } from './shown-claims.js';
export { tokenOf } from './verify-token.js';

/**
 * Verifies tokens as the service does, by the configured key.
 * @throws Error if JWT_PUBLIC_KEY is no usable key
 */
export async function loadTokenVerifier(config: Config, clock: Clock, logger: Logger) {
  return createTokenVerifier(config, await loadSigningKey(config, clock, logger), clock);
}

/**
 * Who members are and how they prove it. (contract, section 2)
 * @param config determines the key; without one, a development key is generated under DATA_DIR
 * @param logger gets what is wrong with a key set
 */
export async function createMembers(config: Config, clock: Clock, logger: Logger) {
  const directory = createMemberDirectory(config.REDIS_URL !== undefined);
  const verifyToken = await loadTokenVerifier(config, clock, logger);
  return {
    /** The member of a token. @throws AppError UNAUTHORIZED, TOKEN_EXPIRED */
    authenticate: createAuthenticator(clock, verifyToken, directory),
    directory,
    /** Creates or updates a member without a token (import). */
    async record(facts: MemberFacts): Promise<Actor> {
      const actor = toActor(await recordMember(clock, facts), null);
      directory.remember(actor);
      return actor;
    },
    /** The same for many, no e-mail address twice. @returns the outcomes, in order */
    async saveAll(facts: MemberFacts[]): Promise<SavedMember[]> {
      const saved = await saveMembers(clock, facts);
      for (const { actor } of saved) directory.remember(actor);
      return saved;
    },
  };
}

export type Members = Awaited<ReturnType<typeof createMembers>>;

/** The area's checks: member numbers. */
export const checkMembers = (): Check[] => [checkSequence('members', 'member', () => highestNumber(Member))];
