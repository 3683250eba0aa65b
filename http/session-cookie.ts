import type { Session } from '../domain/members/index.js';
import type { AppContext } from './context.js';

const NAME = 'session';

/** The header line of each session: a client that is no browser never sends the cookie and gets it each time. */
const lines = new WeakMap<Session, { secure: boolean; line: string | undefined }>();

/** The characters of a token in compact form: no other value goes into a header unescaped. */
const TOKEN = /^[\w.=-]+$/;

/** @returns undefined for a token that no cookie can hold */
function lineOf(session: Session, token: string, secure: boolean): string | undefined {
  const known = lines.get(session);
  if (known?.secure === secure) return known.line;
  const expires = new Date(session.expiresAt).toUTCString();
  // The web app may live on another site than the API; browsers send such a cookie only over TLS.
  const site = secure ? 'samesite=none; secure' : 'samesite=lax';
  const line = TOKEN.test(token)
    ? `${NAME}=${token}; path=/chatroom; expires=${expires}; ${site}; httponly`
    : undefined;
  lines.set(session, { secure, line });
  return line;
}

/**
 * Sets the HttpOnly session cookie that authenticated answers carry, so that the two documented chat
 * calls without an Authorization header still know their caller (contract, section 4). It holds the
 * access token itself: no session store, and nothing a process could lose. It is sent to /chatroom
 * alone and ends with the token.
 */
export function keepSession(ctx: AppContext, token: string, session: Session): void {
  if (ctx.get('Cookie') && ctx.cookies.get(NAME) === token) return;
  const line = lineOf(session, token, ctx.secure);
  if (line) ctx.append('Set-Cookie', line);
}

/** The token in the session cookie. Whether it counts depends on the page that calls (chat/caller.ts). */
export function tokenOfCookie(ctx: AppContext): string | undefined {
  return ctx.cookies.get(NAME) || undefined;
}
