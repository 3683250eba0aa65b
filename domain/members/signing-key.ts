import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CryptoKey, importSPKI, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../kernel/clock.js';
import type { Config } from '../platform/config.js';
import { createRemoteKeys } from './remote-keys.js';

/** How tokens are checked: a secret, for HS256 alone, or a public key (or where to find it) and the algorithms it is believed for. */
export type SigningKey = { secret: KeyObject } | { key: CryptoKey | JWTVerifyGetKey; algorithms: string[] };

/** Signature algorithms of public keys; `none` and HMAC are never taken with one (RFC 8725, 3.1). */
const ASYMMETRIC = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/**
 * The secret that development generates under DATA_DIR and `npm run token` shares. Two processes
 * that start together agree on one: it is written aside and linked into place, so the file is there
 * whole or not at all, and the one that comes second reads the first one's.
 */
function developmentSecret(dataDir: string): string {
  const path = join(dataDir, 'jwt-secret');
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true });
    const aside = `${path}.${process.pid}`;
    writeFileSync(aside, randomBytes(48).toString('base64url'), { mode: 0o600 });
    try {
      linkSync(aside, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      unlinkSync(aside);
    }
  }
  return readFileSync(path, 'utf8').trim();
}

/** The HS256 secret of this configuration, or undefined where tokens are signed elsewhere. */
export function hmacSecret(config: Config): Uint8Array | undefined {
  if (config.JWT_PUBLIC_KEY || config.JWKS_URL) return undefined;
  return new TextEncoder().encode(config.JWT_SECRET ?? developmentSecret(config.DATA_DIR));
}

/** Shortest RSA key that checks anything, in bits (RFC 7518, section 3.3). */
const MIN_RSA_BITS = 2_048;

/** Imports a PEM public key for the first algorithm of ours that its type fits. */
async function importPem(pem: string): Promise<SigningKey> {
  for (const algorithm of ASYMMETRIC) {
    let key: CryptoKey;
    try {
      key = await importSPKI(pem, algorithm);
    } catch {
      // Another type of key: the next algorithm may fit it.
      continue;
    }
    // A shorter one is imported like any other, and then every single token is refused.
    const { modulusLength = MIN_RSA_BITS } = key.algorithm as { modulusLength?: number };
    if (modulusLength < MIN_RSA_BITS) {
      throw new Error(`JWT_PUBLIC_KEY: an RSA key needs ${MIN_RSA_BITS} bits, this one has ${modulusLength}`);
    }
    return { key, algorithms: [algorithm] };
  }
  throw new Error('JWT_PUBLIC_KEY: not a public key of type RSA, EC (P-256) or Ed25519');
}

/** @returns the key of this configuration: exactly one of secret, PEM and JWKS */
export async function loadSigningKey(config: Config, clock: Clock): Promise<SigningKey> {
  if (config.JWT_PUBLIC_KEY) return importPem(config.JWT_PUBLIC_KEY);
  if (config.JWKS_URL) {
    return { key: createRemoteKeys(new URL(config.JWKS_URL), clock), algorithms: ASYMMETRIC };
  }
  return { secret: createSecretKey(hmacSecret(config) as Uint8Array) };
}
