/** Why the server closes a connection; `reconnect` says whether the client may reconnect unchanged. */
export interface CloseReason {
  code: keyof typeof reasons;
  reconnect: boolean;
  text: string;
}

const reasons = {
  TOKEN_EXPIRED: { reconnect: false, text: 'the access token has expired: connect with a new one' },
  ANOTHER_MEMBER: { reconnect: false, text: 'auth:refresh was sent with the token of another member' },
  TOO_MANY_CONNECTIONS: {
    reconnect: false,
    text: 'this member has too many connections; the oldest gave way',
  },
  TOO_MANY_FRAMES: { reconnect: false, text: 'this member has sent too many frames or bytes in 10 s' },
} as const;

/** Why a client that does not read is closed (fault 12), for metrics: it can be told nothing. */
export const SLOW_CONSUMER = 'SLOW_CONSUMER';

/** @returns the reason as sent to the client */
export function closeReason(code: keyof typeof reasons): CloseReason {
  return { code, ...reasons[code] };
}

/** All reasons, for the API documents. */
export function listCloseReasons(): CloseReason[] {
  return (Object.keys(reasons) as CloseReason['code'][]).map(closeReason);
}
