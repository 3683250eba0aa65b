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
import type { Config } from '../platform/settings/config.js';
import { shownName, shownPicture } from './shown-claims.js';
import type { SigningKey } from './signing-key.js';

/** The claims of a valid token. */
export interface Claims {
  email: string;
  nickname?: string;
  profile?: string;
  /** null if the token claims no role, or one that does not exist. */
  claimedRole: Role | null;
  /** Epoch seconds; 0 if missing. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/**
 * How far `iat` and `nbf` may be in the future, s: by how much the clocks of issuer and service may differ. A later `iat`
 * would keep all newer tokens from updating the member.
 */
const MAX_SKEW_S = 60;

/** Longest accepted token, characters: longer than any real one, but cheap to hash. */
export const MAX_TOKEN_LENGTH = 8_192;

/** A claim that others see; one that is no text, or of which nothing is left, counts as absent. */
const shown = (show: (text: string) => string | undefined) =>
  z.string().transform(show).optional().catch(undefined);

const claimsSchema = z.object({
  sub: z.email().max(254),
  nickname: shown(shownName),
  name: shown(shownName),
  profile: shown(shownPicture),
  picture: shown(shownPicture),
  role: z.enum(['USER', 'ADMIN']).nullable().catch(null),
  iat: z.number().optional(),
  exp: z.number(),
});

/** @param now epoch ms */
function readClaims(payload: JWTPayload, now: number): Claims {
  // jose tolerates the skew for `exp`, too, but a token ends when it says.
  if (Number(payload.exp) <= Math.floor(now / 1_000)) throw new AppError('TOKEN_EXPIRED');
  const parsed = claimsSchema.safeParse(payload);
  if (!parsed.success)
    throw new AppError('UNAUTHORIZED', 'the token needs an e-mail address as its sub claim');
  const { sub, nickname, name, profile, picture, role, iat = 0, exp } = parsed.data;
  if (iat > now / 1_000 + MAX_SKEW_S) {
    throw new AppError('UNAUTHORIZED', "the token's iat claim is in the future");
  }
  return {
    email: sub.toLowerCase(),
    nickname: nickname ?? name,
    profile: profile ?? picture,
    claimedRole: role,
    issuedAt: iat,
    expiresAt: exp,
  };
}

/** The error for a refused token: names the reason if that helps, never the expected value. */
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
 * The token of an Authorization header: the bare token (legacy) or `Bearer TOKEN` (RFC 6750), the scheme
 * case-insensitive.
 */
export function tokenOf(header: string): string {
  return header.replace(/^Bearer +/i, '').trim();
}

/**
 * Whether a token is three parts of base64url as an issuer writes them: without padding, other characters, or bits left
 * over. (RFC 7515, 2) Decoders differ in what else they read, so two of them could read two tokens in one.
 */
function isCompact(token: string): boolean {
  const parts = token.split('.');
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
}

/** Header of an unsigned token: jose then checks the claims only. */
const UNSIGNED = Buffer.from('{"alg":"none"}').toString('base64url');

/**
 * Verifies an HS256 token by Node's synchronous HMAC, and its claims by jose. jose's own verification uses
 * WebCrypto on another thread: four times the CPU, for thousands of clients that reconnect at once.
 * (docs/performance.md)
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
  // `crit` lists extensions that a verifier must support; we support none.
  const { alg, crit } = decodeProtectedHeader(token);
  if (alg !== 'HS256' || crit !== undefined) throw new errors.JOSEAlgNotAllowed();
  return UnsecuredJWT.decode(`${UNSIGNED}${token.slice(token.indexOf('.'), end)}.`, options).payload;
}

/**
 * @returns a function that verifies signature, algorithm, times, issuer and audience, and resolves to the
 *   claims. It rejects with UNAUTHORIZED or TOKEN_EXPIRED only, also if the key set cannot be fetched
 *   (fault 8).
 */
export function createTokenVerifier(config: Config, signingKey: SigningKey, clock: Clock) {
  async function payloadOf(token: string): Promise<JWTPayload> {
    const options = {
      requiredClaims: ['sub', 'exp'],
      clockTolerance: MAX_SKEW_S,
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
    if (!isCompact(token)) throw new AppError('UNAUTHORIZED', 'the access token is not valid');
    try {
      return readClaims(await payloadOf(token), clock.now());
    } catch (error) {
      throw refusal(error);
    }
  };
}
