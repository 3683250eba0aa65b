import type { Chat } from './chat/index.js';
import type { Community } from './community/index.js';
import { joinRunning } from './platform/async/shared-runs.js';
import type { Logger } from './platform/observe/logger.js';
import type { Reports } from './platform/redis/reports.js';

/** Interval, ms. */
const EVERY_MS = 30_000;

interface SweepDeps {
  community: Community;
  chat: Chat;
  logger: Logger;
  /** Without them, this process sweeps regularly; otherwise as long as it is on duty, or one may have crashed. */
  reports: Pick<Reports, 'completeSince' | 'isOnDuty'> | undefined;
}

/** The sweeps of a process: they finish what a crash interrupted. */
export function createSweeps({ community, chat, logger, reports }: SweepDeps) {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  /** A sweep may take longer than the interval: the calls meanwhile share it. */
  const sweepCommunity = joinRunning(() =>
    community
      .sweep(closing.signal)
      .catch((error) => logger.warn({ err: error }, 'a sweep failed; the next one retries')),
  );

  let sweptAt = 0;

  function sweep(): Promise<void> {
    sweptAt = performance.now();
    void chat.sweep();
    running = sweepCommunity();
    return running;
  }

  return {
    /** Sweeps now and regularly. Resolves when the counts are correct; notifications continue in the background. */
    async start(): Promise<void> {
      await sweep();
      timer = setInterval(() => {
        if (!reports || reports.isOnDuty || !reports.completeSince(sweptAt)) void sweep();
      }, EVERY_MS);
      timer.unref();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
