import { SignJWT } from 'jose';
import type { Role } from '../kernel/actor.js';
import type { Config } from '../platform/settings/config.js';
import { ConfigError } from '../platform/settings/config.js';
import { hmacSecret } from './signing-key.js';

export interface TokenRequest {
  email: string;
  nickname?: string;
  profile?: string;
  role?: Role;
  /** Lifetime in jose's syntax, such as `12h`. */
  ttl: string;
}

/**
 * Signs an access token with the configured HS256 secret.
 * @throws ConfigError if a public key or a key set is configured: the issuer signs then
 */
export async function issueToken(config: Config, request: TokenRequest): Promise<string> {
  const secret = hmacSecret(config);
  if (!secret) {
    throw new ConfigError([
      'JWT_SECRET: only a configured secret can sign; with a public key the issuer signs',
    ]);
  }
  const { email, nickname, profile, role, ttl } = request;
  const token = new SignJWT({
    ...(nickname ? { nickname } : {}),
    ...(profile ? { profile } : {}),
    ...(role ? { role } : {}),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(email)
    .setIssuedAt()
    .setExpirationTime(ttl);
  if (config.JWT_ISSUER) token.setIssuer(config.JWT_ISSUER);
  if (config.JWT_AUDIENCE) token.setAudience(config.JWT_AUDIENCE);
  return token.sign(secret);
}
