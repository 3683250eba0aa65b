import type { AppError } from './errors.js';

/** An Authorization header without a token. */
const WITHOUT_TOKEN = /^(Bearer)?\s*$/i;

/**
 * The `WWW-Authenticate` of an answer with status 401: what the caller lacks, or what is wrong with the token that it sent.
 * (RFC 9110, 11.6.1; RFC 6750, 3) The realm is first: without it, old clients of Android and Jetty find no challenge,
 * and throw.
 *
 * @param authorization that header of the request
 */
export function challengeOf({ code }: AppError, authorization = ''): string {
  const challenge = 'Bearer realm="adoption"';
  if (WITHOUT_TOKEN.test(authorization)) return challenge;
  const isExpired = code === 'TOKEN_EXPIRED';
  const why = isExpired ? ', error_description="TOKEN_EXPIRED: the access token has expired"' : '';
  return `${challenge}, error="invalid_token"${why}`;
}
