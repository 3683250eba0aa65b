import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { createMembers, type Members } from '../../../domain/members/index.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { service } from '../../support/service.js';

/** The members' time, which tests set. */
export const clock = {
  at: Date.now(),
  now() {
    return this.at;
  },
};

export const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

/** Members on the running database, with these keys. */
export async function membersWith(
  settings: Record<string, string>,
  logger = createLogger('silent', 'test'),
): Promise<Members> {
  const { config } = await service();
  return createMembers(loadConfig({ NODE_ENV: 'test', ...settings }, config.DATA_DIR), clock, logger);
}

let counter = 0;

/** A token with a new address each time, so that none is cached. */
export function token(
  alg: string,
  key: KeyObject | Uint8Array,
  header: Record<string, unknown> = {},
  claims: Record<string, unknown> = {},
): Promise<string> {
  counter += 1;
  return new SignJWT({ sub: `key-${counter}@example.org`, ...claims })
    .setProtectedHeader({ alg, ...header })
    .setExpirationTime(Math.floor(clock.at / 1_000) + 86_400)
    .sign(key);
}

/** `accepted`, or the code of the refusal. */
export async function codeOf(members: Members, jwt: string): Promise<string> {
  try {
    await members.authenticate(jwt);
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}
