import { EventSourcePolyfill } from 'event-source-polyfill';
import { startTcpProxy } from '../../../scripts/command/tcp-proxy.js';
import { createReceivedLog } from '../../support/eventually.js';

/** Silence, in ms, after which the app reconnects a stream. */
const HEARTBEAT_TIMEOUT_MS = 29 * 60_000;

/** An event as the app's listener receives it. */
export interface PageEvent {
  id: string;
  data: string;
}

/** The event stream as the app opens it, by the polyfill, over a connection that can be cut. */
export interface PageStream {
  /** The event after the last one returned. */
  next(): Promise<PageEvent>;
  /** Cuts the connection; the polyfill reconnects by itself. */
  lose(): Promise<void>;
  close(): Promise<void>;
}

/** @param base where each connection goes, also after a cut */
export async function openPageStream(
  base: () => string,
  headers: Record<string, string>,
): Promise<PageStream> {
  const proxy = await startTcpProxy(() => Number(new URL(base()).port));
  const received = createReceivedLog<PageEvent>();
  let taken = 0;
  const source = new EventSourcePolyfill(`http://127.0.0.1:${proxy.port}/notification/connect`, {
    headers,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  });
  const { error } = console;
  source.addEventListener('sse', (event) => {
    console.error = error;
    const { lastEventId: id, data } = event as unknown as { lastEventId: string; data: string };
    received.add({ id, data });
  });

  return {
    next() {
      taken += 1;
      return received.next((event) => received.entries.indexOf(event) === taken - 1);
    },
    async lose() {
      // The polyfill prints an error for each connection that is cut.
      console.error = () => {};
      proxy.cut();
    },
    async close() {
      console.error = error;
      source.close();
      await proxy.close();
    },
  };
}
