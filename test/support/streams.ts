import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Member } from './api.js';
import { expectDocumented, expectMessage } from './api-documents.js';
import { createReceivedLog, sleep } from './eventually.js';
import { service } from './service.js';

const open = new Set<AbortController>();

/** An open event stream that keeps everything it receives. */
export interface EventStream {
  status: number;
  headers: Headers;
  events: EventSourceMessage[];
  comments: string[];
  /** Reconnection time that the server asks for, ms. */
  retry: number | undefined;
  /** The first event that matches, received already or later. */
  next(matches?: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens GET /notification/connect as a member. */
export async function openStream(
  who: Pick<Member, 'token'>,
  options: { lastEventId?: string | undefined; query?: string; base?: string } = {},
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
  expectDocumented('GET', answer.url, answer);
  const received = createReceivedLog<EventSourceMessage>();
  const stream: EventStream = {
    status: answer.status,
    headers: answer.headers,
    events: received.entries,
    comments: [],
    retry: undefined,
    async next(matches = () => true) {
      const event = await received.next(matches);
      if (event.data.startsWith('{')) expectMessage('notification', JSON.parse(event.data), 'eventStream');
      return event;
    },
    ended: Promise.resolve(),
    close: () => abort.abort(),
  };
  const parser = createParser({
    onEvent: received.add,
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

/** Pause, ms, before a follower reconnects. */
const RECONNECT_MS = 100;

/** A reader that reconnects with its last event id, as browsers do. Resolves when its first connection is open. */
export async function followStream(who: Pick<Member, 'token'>, base: string) {
  const ended: string[] = [];
  let connections = 0;
  let closed = false;
  let stream: EventStream;

  const idsOf = ({ events }: EventStream) =>
    events.flatMap(({ id, data }) => (id && !data.startsWith('EventStream Created') ? [id] : []));

  async function openOnce(lastEventId?: string): Promise<void> {
    const opened = await openStream(who, { base, lastEventId });
    if (opened.status !== 200) throw new Error(`the stream answers ${opened.status}`);
    stream = opened;
    connections += 1;
  }

  async function follow(): Promise<void> {
    let lastEventId: string | undefined;
    while (!closed) {
      await stream.ended.catch(() => undefined);
      lastEventId = stream.events.findLast(({ id }) => id !== undefined)?.id ?? lastEventId;
      ended.push(...idsOf(stream));
      stream.events.length = 0;
      if (closed) return;
      await sleep(RECONNECT_MS);
      // Refused, or closed before it was open: the next round tries again.
      await openOnce(lastEventId).catch(() => undefined);
    }
  }

  await openOnce();
  void follow();
  return {
    /** Ids of the notifications received, in order, over all connections. */
    get ids() {
      return [...ended, ...idsOf(stream)];
    },
    /** Connections made so far. */
    get connections() {
      return connections;
    },
    close() {
      closed = true;
      stream.close();
    },
  };
}

/** Streams open at the service in this process, by its metrics. */
export const countStreams = async (): Promise<number> => (await metrics.streams.get()).values[0]?.value ?? 0;

/** Closes all streams of a test. */
export function closeStreams(): void {
  for (const abort of open) abort.abort();
  open.clear();
}
