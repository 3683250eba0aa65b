import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  decodeProtectedHeader,
  errors,
  type JWTClaimVerificationOptions,
  type JWTPayload,
  jwtVerify,
  UnsecuredJWT,
} from 'jose';
import { z } from 'zod';
import type { Role } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { Config } from '../platform/config.js';
import type { SigningKey } from './signing-key.js';

/** What a valid token says. */
export interface Claims {
  email: string;
  nickname?: string;
  profile?: string;
  role?: Role;
  /** Epoch seconds; 0 where the token does not say. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/** Longest token looked at, in characters: larger than any real one, small enough to hash at leisure. */
const MAX_TOKEN_LENGTH = 8_192;

const text = (max: number) => z.string().trim().min(1).max(max).optional().catch(undefined);

const claimsSchema = z.object({
  sub: z.email().max(254),
  nickname: text(50),
  name: text(50),
  profile: text(2_048),
  picture: text(2_048),
  role: z.enum(['USER', 'ADMIN']).optional().catch(undefined),
  iat: z.number().optional(),
  exp: z.number(),
});

function readClaims(payload: JWTPayload): Claims {
  const parsed = claimsSchema.safeParse(payload);
  if (!parsed.success)
    throw new AppError('UNAUTHORIZED', 'the token needs an e-mail address as its sub claim');
  const { sub, nickname, name, profile, picture, role, iat, exp } = parsed.data;
  return {
    email: sub.toLowerCase(),
    nickname: nickname ?? name,
    profile: profile ?? picture,
    role,
    issuedAt: iat ?? 0,
    expiresAt: exp,
  };
}

/** A refused token as the client reads it; the reason is said where it helps, never what we expected. */
function refusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.JWTExpired) return new AppError('TOKEN_EXPIRED', [], { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new AppError('UNAUTHORIZED', `the token's ${error.claim} claim is missing or not accepted`, {
      cause: error,
    });
  }
  return new AppError('UNAUTHORIZED', 'the access token is not valid', { cause: error });
}

/**
 * The token of an Authorization header: the raw token (legacy) or `Bearer TOKEN` (RFC 6750), the
 * scheme in any case.
 */
export function tokenOf(header: string): string {
  return header.replace(/^Bearer +/i, '').trim();
}

/** The header of a token without a signature, as jose reads its claims from. */
const UNSIGNED = Buffer.from('{"alg":"none"}').toString('base64url');

/**
 * Checks an HS256 token by Node's own HMAC, in place, and leaves its claims to jose. jose's check of the
 * signature is WebCrypto's, a job on another thread: four times the CPU, for each of thousands of clients
 * that come back at once. (docs/performance.md)
 *
 * @throws errors.JOSEError
 */
function verifyHmac(token: string, secret: KeyObject, options: JWTClaimVerificationOptions): JWTPayload {
  const end = token.lastIndexOf('.');
  const signature = Buffer.from(token.slice(end + 1));
  const expected = Buffer.from(createHmac('sha256', secret).update(token.slice(0, end)).digest('base64url'));
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    throw new errors.JWSSignatureVerificationFailed();
  }
  // Whoever knows the secret has written the header, and may have meant something that we do not do.
  const { alg, crit } = decodeProtectedHeader(token);
  if (alg !== 'HS256' || crit !== undefined) throw new errors.JOSEAlgNotAllowed();
  return UnsecuredJWT.decode(`${UNSIGNED}${token.slice(token.indexOf('.'), end)}.`, options).payload;
}

/**
 * @returns a function that checks a token's signature, algorithm, times, issuer and audience and
 *   resolves to its claims. It rejects with UNAUTHORIZED or TOKEN_EXPIRED, whatever was wrong: a key
 *   set that cannot be fetched is the token's misfortune too (fault 8).
 */
export function createTokenVerifier(config: Config, signingKey: SigningKey, clock: Clock) {
  async function payloadOf(token: string): Promise<JWTPayload> {
    const options = {
      requiredClaims: ['sub', 'exp'],
      currentDate: new Date(clock.now()),
      ...(config.JWT_ISSUER ? { issuer: config.JWT_ISSUER } : {}),
      ...(config.JWT_AUDIENCE ? { audience: config.JWT_AUDIENCE } : {}),
    };
    if ('secret' in signingKey) return verifyHmac(token, signingKey.secret, options);
    const { key, algorithms } = signingKey;
    const all = { ...options, algorithms };
    return (await jwtVerify(token, key as Parameters<typeof jwtVerify>[1], all)).payload;
  }

  return async function verifyToken(token: string): Promise<Claims> {
    if (token.length > MAX_TOKEN_LENGTH) throw new AppError('UNAUTHORIZED', 'the access token is too long');
    try {
      return readClaims(await payloadOf(token));
    } catch (error) {
      throw refusal(error);
    }
  };
}
