import type { Session } from '../domain/members/index.js';
import type { AppContext } from './context.js';

const NAME = 'session';

/** Set-Cookie headers, cached: a client that never sends the cookie back gets it with each answer. */
const headers = new WeakMap<Session, { secure: boolean; header: string | undefined }>();

/** The characters of a JWT in compact form. Any other text could inject cookie attributes. */
const TOKEN = /^[\w.=-]+$/;

/** @returns undefined for a token that cannot be a cookie's value */
function headerOf(session: Session, token: string, secure: boolean): string | undefined {
  const cached = headers.get(session);
  if (cached?.secure === secure) return cached.header;
  const expires = new Date(session.expiresAt).toUTCString();
  // The web app may be on another site than the API; browsers send such a cookie over TLS only.
  const site = secure ? 'samesite=none; secure' : 'samesite=lax';
  const header = TOKEN.test(token)
    ? `${NAME}=${token}; path=/chatroom; expires=${expires}; ${site}; httponly`
    : undefined;
  headers.set(session, { secure, header });
  return header;
}

/**
 * Sets the HttpOnly session cookie, which identifies the caller of the two documented chat calls without an
 * Authorization header (contract, section 4). Its value is the access token: there is no session store. It is
 * sent to /chatroom only and expires with the token.
 */
export function keepSession(ctx: AppContext, token: string, session: Session): void {
  if (ctx.get('Cookie') && ctx.cookies.get(NAME) === token) return;
  const header = headerOf(session, token, ctx.secure);
  if (header) ctx.append('Set-Cookie', header);
}

/** The token in the session cookie, if any. chat/caller.ts decides whether to accept it. */
export function tokenOfCookie(ctx: AppContext): string | undefined {
  return ctx.cookies.get(NAME) || undefined;
}
