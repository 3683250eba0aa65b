import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import type { Config } from '../platform/config.js';
import { createAuthenticator, type Session } from './authenticate.js';
import { createMemberDirectory, type MemberDirectory } from './member-directory.js';
import { type MemberFacts, recordMember } from './record-member.js';
import { type SavedMember, saveMembers } from './save-members.js';
import { loadSigningKey } from './signing-key.js';
import { createTokenVerifier } from './verify-token.js';

export type { Session } from './authenticate.js';
export { issueToken } from './issue-token.js';
export type { MemberDirectory } from './member-directory.js';
export { checkMembers } from './verify-members.js';
export { tokenOf } from './verify-token.js';

/** Who people are and how they prove it. (contract, section 2) */
export interface Members {
  /** The member a token speaks for. @throws AppError UNAUTHORIZED, TOKEN_EXPIRED */
  authenticate(token: string): Promise<Session>;
  directory: MemberDirectory;
  /** Creates or updates a member from facts that need no token (an import). */
  record(facts: MemberFacts): Promise<Actor>;
  /** The same for many at once, no e-mail address twice. @returns what became of each, in order */
  saveAll(facts: MemberFacts[]): Promise<SavedMember[]>;
}

/** @param config decides the key; a development key is made under DATA_DIR where none is given */
export async function createMembers(config: Config, clock: Clock): Promise<Members> {
  const directory = createMemberDirectory();
  const verifyToken = createTokenVerifier(config, await loadSigningKey(config, clock), clock);
  return {
    authenticate: createAuthenticator(clock, verifyToken, directory),
    directory,
    async record(facts) {
      const actor = await recordMember(clock, facts);
      directory.remember(actor);
      return actor;
    },
    async saveAll(facts) {
      const saved = await saveMembers(clock, facts);
      for (const { actor } of saved) directory.remember(actor);
      return saved;
    },
  };
}
