/** Why the server closes a connection, as its client is told; after none of these it may reconnect unchanged. */
export interface CloseReason {
  code: keyof typeof reasons;
  reconnect: false;
  text: string;
}

/** Each with its name in metrics. */
const reasons = {
  TOKEN_EXPIRED: { name: 'expired', text: 'the access token has expired: connect with a new one' },
  ANOTHER_MEMBER: { name: 'another-member', text: 'auth:refresh was sent with the token of another member' },
  TOO_MANY_CONNECTIONS: {
    name: 'too-many',
    text: 'this member has too many connections; the oldest gave way',
  },
  TOO_MANY_FRAMES: { name: 'frames', text: 'this member has sent too many frames or bytes in 10 s' },
} as const;

/** Why a connection ended, as metrics name it. */
export type ClosedFor =
  | (typeof reasons)[keyof typeof reasons]['name']
  | (typeof disconnects)[keyof typeof disconnects]
  | 'slow'
  | 'restore';

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
export const closedBy = (code: CloseReason['code']): ClosedFor => reasons[code].name;

/** @param reason of Socket.IO's `disconnect` event */
export const closedAfter = (reason: string): ClosedFor =>
  disconnects[reason as keyof typeof disconnects] ?? 'error';

/** @returns the reason as sent to the client */
export function closeReason(code: CloseReason['code']): CloseReason {
  return { code, reconnect: false, text: reasons[code].text };
}

/** All reasons, for the API documents. */
export function listCloseReasons(): CloseReason[] {
  return (Object.keys(reasons) as CloseReason['code'][]).map(closeReason);
}
