import type { Chat } from './chat/index.js';
import type { Community } from './community/index.js';
import type { Logger } from './platform/logger.js';
import { joinRunning } from './platform/shared-runs.js';

/** Interval, ms. */
const EVERY_MS = 30_000;

/** The sweeps of a process: they finish what a crash interrupted. */
export function createSweeps(deps: { community: Community; chat: Chat; logger: Logger }) {
  const { community, chat, logger } = deps;
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  /** A sweep may take longer than the interval: the calls meanwhile share it. */
  const sweepCommunity = joinRunning(() =>
    community
      .sweep(closing.signal)
      .catch((error) => logger.warn({ err: error }, 'a sweep failed; the next one retries')),
  );

  function sweep(): Promise<void> {
    void chat.sweep();
    running = sweepCommunity();
    return running;
  }

  return {
    /** Sweeps now and regularly. Resolves when the counts are correct; notifications continue in the background. */
    async start(): Promise<void> {
      await sweep();
      timer = setInterval(() => void sweep(), EVERY_MS);
      timer.unref();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
