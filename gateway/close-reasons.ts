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

/** Why a connection ended, as metrics name it. */
export type ClosedFor =
  | (typeof closings)[keyof typeof closings]
  | (typeof disconnects)[keyof typeof disconnects]
  | 'slow';

/** By the reason that its client was sent. */
const closings = {
  TOKEN_EXPIRED: 'expired',
  ANOTHER_MEMBER: 'another-member',
  TOO_MANY_CONNECTIONS: 'too-many',
  TOO_MANY_FRAMES: 'frames',
} as const satisfies Record<CloseReason['code'], string>;

/** By what Socket.IO calls it; `forced close` is a second connect request. */
const disconnects = {
  'client namespace disconnect': 'client',
  'server namespace disconnect': 'namespace',
  'transport close': 'transport',
  'ping timeout': 'timeout',
  'server shutting down': 'drain',
  'transport error': 'error',
  'parse error': 'error',
  'forced close': 'error',
} as const;

/** @param code as sent to the client */
export const closedBy = (code: CloseReason['code']): ClosedFor => closings[code];

/** @param reason of Socket.IO's `disconnect` event */
export const closedAfter = (reason: string): ClosedFor =>
  disconnects[reason as keyof typeof disconnects] ?? 'error';

/** @returns the reason as sent to the client */
export function closeReason(code: keyof typeof reasons): CloseReason {
  return { code, ...reasons[code] };
}

/** All reasons, for the API documents. */
export function listCloseReasons(): CloseReason[] {
  return (Object.keys(reasons) as CloseReason['code'][]).map(closeReason);
}
