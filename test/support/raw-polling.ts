import { WAIT_MS } from './eventually.js';

/** A long-polling session without a client library. */
export interface RawPolling {
  /** The session's address. */
  url: string;
  /** Packets that wait, or those that come first. */
  poll(): Promise<string[]>;
  /** Sends packets in one body. @returns the status */
  post(packets: string[]): Promise<number>;
}

/** Between the packets of a body. (Engine.IO protocol, 4) */
const SEPARATOR = '\x1e';

/** Opens one. @param headers of every request */
export async function rawPolling(base: string, headers: Record<string, string> = {}): Promise<RawPolling> {
  const path = `${base}/socket.io/?EIO=4&transport=polling`;
  const ask = (address: string, request: RequestInit = {}) =>
    fetch(address, { headers, signal: AbortSignal.timeout(WAIT_MS), ...request });
  const opening = await (await ask(path)).text();
  const { sid } = JSON.parse(opening.slice(1)) as { sid: string };
  const url = `${path}&sid=${sid}`;
  return {
    url,
    poll: async () => (await (await ask(url)).text()).split(SEPARATOR),
    post: async (packets) => (await ask(url, { method: 'POST', body: packets.join(SEPARATOR) })).status,
  };
}
