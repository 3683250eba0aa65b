import { EventSourcePolyfill } from 'event-source-polyfill';
import { startTcpProxy } from '../../support/tcp-proxy.js';

/** How long, in ms, the app lets a stream be silent before it connects again. */
const HEARTBEAT_TIMEOUT_MS = 29 * 60_000;

/** How long, in ms, an event may take: the polyfill waits up to 3 s before it connects again. */
const PATIENCE_MS = 12_000;

/** An event as the app's listener gets it. */
export interface PageEvent {
  id: string;
  data: string;
}

/** The event stream as the app opens it: the polyfill itself, over a connection that can be cut. */
export interface PageStream {
  /** The event after the last one that was taken. */
  next(): Promise<PageEvent>;
  /** Cuts the connection; the polyfill comes back by itself. */
  lose(): Promise<void>;
  close(): Promise<void>;
}

/** @param base where each connection goes, the one after a cut too */
export async function openPageStream(
  base: () => string,
  headers: Record<string, string>,
): Promise<PageStream> {
  const proxy = await startTcpProxy(() => Number(new URL(base()).port));
  const events: PageEvent[] = [];
  let taken = 0;
  let arrived = () => {};
  const source = new EventSourcePolyfill(`http://127.0.0.1:${proxy.port}/notification/connect`, {
    headers,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  });
  const { error } = console;
  source.addEventListener('sse', (event) => {
    console.error = error;
    const { lastEventId: id, data } = event as unknown as { lastEventId: string; data: string };
    events.push({ id, data });
    arrived();
  });

  return {
    async next() {
      const until = Date.now() + PATIENCE_MS;
      while (events.length === taken) {
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(
            () =>
              reject(new Error(`no further event in ${PATIENCE_MS} ms; so far: ${JSON.stringify(events)}`)),
            until - Date.now(),
          );
          arrived = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      taken += 1;
      return events[taken - 1] as PageEvent;
    },
    async lose() {
      // The polyfill prints the error of every connection that breaks off.
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
