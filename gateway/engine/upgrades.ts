import type { IncomingHttpHeaders } from 'node:http';

/*
 * Requests to change a connection's protocol. (RFC 9110, 7.8)
 */

/**
 * Whether a request is the handshake of a WebSocket. uWebSockets.js takes it for one by its key alone, also behind a proxy that has taken
 * the other headers away and does not expect an answer in another protocol. (RFC 6455, 4.2.1)
 *
 * @param headers names in lower case, and values, one for each line
 */
export function isHandshake(headers: Iterable<readonly [name: string, value: string]>): boolean {
  let [connects, upgrades, fits] = [false, false, false];
  for (const [name, value] of headers) {
    if (name === 'connection') connects ||= /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(value);
    else if (name === 'upgrade') upgrades = value.toLowerCase() === 'websocket';
    // As ws does.
    else if (name === 'sec-websocket-version') fits = value === '13' || value === '8';
  }
  return connects && upgrades && fits;
}

/** Why a request to change the protocol is refused: where it does, Node leaves a body unread, and a WebSocket would take it for frames. */
export function bodyFault(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return Number(length) === 0 && coding === undefined
    ? undefined
    : 'Upgrade: must not be sent with a body, which would be lost';
}
