import type { Member } from '../../support/api.js';
import { type EventStream, openStream } from '../../support/streams.js';

/** A reader of an event stream that comes back with its last event id, as browsers do. */
export interface StreamClient {
  /** Ids of the notifications it was sent, in order, over all connections. */
  readonly ids: string[];
  /** How often it has connected. */
  readonly connections: number;
  close(): void;
}

/** Pause, in ms, before it comes back. */
const AGAIN_AFTER_MS = 100;

/** @returns the reader, once its first connection stands */
export async function followStream(who: Pick<Member, 'token'>, base: string): Promise<StreamClient> {
  const ids: string[] = [];
  let lastEventId: string | undefined;
  let connections = 0;
  let closed = false;
  let current: EventStream | undefined;

  async function connectOnce(): Promise<EventStream> {
    const stream = await openStream(who, {
      base,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
    if (stream.status !== 200) throw new Error(`the stream answers ${stream.status}`);
    current = stream;
    connections += 1;
    return stream;
  }

  /** What came over one connection, up to its end. */
  async function readOut(stream: EventStream): Promise<void> {
    await stream.ended.catch(() => undefined);
    take(stream);
  }

  function take(stream: EventStream): void {
    for (const { id, data } of stream.events.splice(0)) {
      if (id !== undefined) lastEventId = id;
      if (id !== undefined && !data.startsWith('EventStream Created')) ids.push(id);
    }
  }

  const first = await connectOnce();
  async function follow(): Promise<void> {
    let stream: EventStream | undefined = first;
    while (!closed) {
      if (stream) await readOut(stream);
      if (closed) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
      // Refused, or gone before it stood: again, a little later.
      stream = await connectOnce().catch(() => undefined);
    }
  }
  void follow();

  return {
    get ids() {
      if (current) take(current);
      return ids;
    },
    get connections() {
      return connections;
    },
    close() {
      closed = true;
      current?.close();
    },
  };
}
