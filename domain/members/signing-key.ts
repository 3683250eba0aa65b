import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CryptoKey, importSPKI, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../kernel/clock.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Config } from '../platform/settings/config.js';
import { createRemoteKeys } from './remote-keys.js';

/** A secret, for HS256 only, or a public key (or key set) and the algorithms it may be used with. */
export type SigningKey = { secret: KeyObject } | { key: CryptoKey | JWTVerifyGetKey; algorithms: string[] };

/** Algorithms of public keys; never `none` or HMAC (RFC 8725, 3.1). */
const ASYMMETRIC = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/**
 * The development secret under DATA_DIR, shared with `npm run token`. Concurrently started processes agree
 * on one: it is written to a temporary file and linked into place, so the file is never partial, and the
 * second process reads the first one's.
 */
function developmentSecret(dataDir: string): string {
  const path = join(dataDir, 'jwt-secret');
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true });
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, randomBytes(48).toString('base64url'), { mode: 0o600 });
    try {
      linkSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      unlinkSync(temporary);
    }
  }
  return readFileSync(path, 'utf8').trim();
}

/** The HS256 secret; undefined if a public key or a key set is configured. */
export function hmacSecret(config: Config): Uint8Array | undefined {
  if (config.JWT_PUBLIC_KEY || config.JWKS_URL) return undefined;
  return new TextEncoder().encode(config.JWT_SECRET ?? developmentSecret(config.DATA_DIR));
}

/** Shortest allowed RSA key, bits (RFC 7518, section 3.3). */
const MIN_RSA_BITS = 2_048;

/** Imports a PEM public key for the first algorithm that fits its type. */
async function importPem(pem: string): Promise<SigningKey> {
  for (const algorithm of ASYMMETRIC) {
    let key: CryptoKey;
    try {
      key = await importSPKI(pem, algorithm);
    } catch {
      // Another type of key.
      continue;
    }
    // jose imports a shorter key, but then refuses every token.
    const { modulusLength = MIN_RSA_BITS } = key.algorithm as { modulusLength?: number };
    if (modulusLength < MIN_RSA_BITS) {
      throw new Error(`JWT_PUBLIC_KEY: an RSA key needs ${MIN_RSA_BITS} bits, this one has ${modulusLength}`);
    }
    return { key, algorithms: [algorithm] };
  }
  throw new Error('JWT_PUBLIC_KEY: not a public key of type RSA, EC (P-256) or Ed25519');
}

/** The configured key: a secret, PEM or JWKS. */
export async function loadSigningKey(config: Config, clock: Clock, logger: Logger): Promise<SigningKey> {
  if (config.JWT_PUBLIC_KEY) return importPem(config.JWT_PUBLIC_KEY);
  if (config.JWKS_URL) {
    return { key: createRemoteKeys(new URL(config.JWKS_URL), clock, logger), algorithms: ASYMMETRIC };
  }
  return { secret: createSecretKey(hmacSecret(config) as Uint8Array) };
}
