import type { Session } from '../domain/members/index.js';
import type { AppContext } from './context.js';

const NAME = 'session';

/**
 * Sets the HttpOnly session cookie that authenticated answers carry, so that the two documented chat
 * calls without an Authorization header still know their caller (contract, section 4). It holds the
 * access token itself: no session store, and nothing a process could lose. It is sent to /chatroom
 * alone and ends with the token.
 */
export function keepSession(ctx: AppContext, token: string, session: Session): void {
  if (ctx.cookies.get(NAME) === token) return;
  ctx.cookies.set(NAME, token, {
    httpOnly: true,
    path: '/chatroom',
    overwrite: true,
    expires: new Date(session.expiresAt),
    secure: ctx.secure,
    // The web app may live on another site than the API; browsers send such a cookie only over TLS.
    sameSite: ctx.secure ? 'none' : 'lax',
  });
}

/**
 * The token in the session cookie. A cookie comes with any request of that browser, whoever caused
 * it, so it counts only where the calling page is one of ours (RFC 6265bis, section 8.2).
 */
export function tokenOfCookie(ctx: AppContext): string | undefined {
  const origin = ctx.get('Origin');
  if (origin && !ctx.state.knownPage(origin)) return undefined;
  return ctx.cookies.get(NAME) || undefined;
}
