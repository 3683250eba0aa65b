import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Member } from './api.js';
import { service } from './service.js';

const open = new Set<AbortController>();

/** How long, in ms, an event may take before its test fails by name rather than by a time-out. */
const TIMEOUT_MS = 40_000;

/** An open event stream that keeps everything it receives. */
export interface EventStream {
  status: number;
  headers: Headers;
  events: EventSourceMessage[];
  comments: string[];
  /** Reconnection time the server asked for, in ms. */
  retry: number | undefined;
  /** The first event that fits, now or later. */
  next(fits?: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens GET /notification/connect as a member. */
export async function openStream(
  who: Pick<Member, 'token'>,
  options: { lastEventId?: string; query?: string; base?: string } = {},
): Promise<EventStream> {
  const base = options.base ?? (await service()).http;
  const abort = new AbortController();
  open.add(abort);
  const answer = await fetch(`${base}/notification/connect${options.query ?? ''}`, {
    headers: {
      Authorization: who.token,
      Accept: 'text/event-stream',
      ...(options.lastEventId === undefined ? {} : { 'Last-Event-ID': options.lastEventId }),
    },
    signal: abort.signal,
  });
  const waiting = new Set<() => void>();
  const stream: EventStream = {
    status: answer.status,
    headers: answer.headers,
    events: [],
    comments: [],
    retry: undefined,
    next(fits = () => true) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `no fitting event in ${TIMEOUT_MS} ms; received: ${JSON.stringify(stream.events).slice(0, 2_000)}`,
            ),
          );
        }, TIMEOUT_MS);
        function look(): void {
          const found = stream.events.find(fits);
          if (!found) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        }
        waiting.add(look);
        look();
      });
    },
    ended: Promise.resolve(),
    close: () => abort.abort(),
  };
  const parser = createParser({
    onEvent(event) {
      stream.events.push(event);
      for (const look of [...waiting]) look();
    },
    onComment: (comment) => stream.comments.push(comment),
    onRetry: (ms) => {
      stream.retry = ms;
    },
  });
  stream.ended = (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body ?? [])
        parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
  })();
  // A stream that breaks off fails the test that awaits `ended`, not the process.
  stream.ended.catch(() => undefined);
  return stream;
}

/** Closes every stream of the test. */
export function closeStreams(): void {
  for (const abort of open) abort.abort();
  open.clear();
}
