import { EventEmitter } from 'node:events';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import type { Report } from '../../domain/platform/redis/reports.js';

/** What a process hears of others, as a test says. */
export class FakeReports {
  isComplete = true;
  isOnDuty = false;
  readonly published = new Set<number>();
  hear = (_report: Report): void => {};
  readonly completeSince = (since: number) => this.isComplete && since > 0;
  readonly wasPublished = (id: number) => this.published.has(id);

  onReport(listener: typeof this.hear) {
    this.hear = listener;
    return () => {
      this.hear = () => {};
    };
  }

  tell(report: Partial<Report>): void {
    this.hear({ rooms: [], unsure: [], notifications: [], ...report } as Report);
  }
}

/** A Redis that connects processes, as far as reports need it. */
export function buildRedis() {
  const listeners = new Set<{ name: string; hear(channel: string, text: string): void }>();
  /** Processes that are cut off. */
  const cut = new Set<string>();
  const connect = (name: string) => {
    const events = new EventEmitter();
    const redis = {
      subscriber: () => ({ subscribe: async () => {}, unsubscribe: async () => {} }),
      listen(_event: string, wants: (channel: string) => boolean, listener: (...args: string[]) => void) {
        const one = {
          name,
          hear: (channel: string, text: string) => wants(channel) && listener(channel, text),
        };
        listeners.add(one as never);
        return () => listeners.delete(one as never);
      },
      async publish(channel: string, text: string) {
        if (cut.has(name)) return;
        for (const one of listeners) if (one.name !== name && !cut.has(one.name)) one.hear(channel, text);
      },
      on(event: string, listener: () => void) {
        events.on(event, listener);
        return () => events.off(event, listener);
      },
    };
    return { redis: redis as unknown as RedisConnection, events };
  };
  return { cut, connect, listeners };
}
