import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagerEvents } from './manager.js';

const POLL_MS = 100;

/** Keeps what pm2 tells of its processes: which have said that they are ready, and which have failed. */
export interface Readiness extends ManagerEvents {
  /** Whether the process has said so since the last `forget`. */
  isReady(id: number): boolean;
  /** Whether it has ended with a failure since then. */
  hasFailed(id: number): boolean;
  forget(id: number): void;
}

export function createReadiness(): Readiness {
  const readyOnes = new Set<number>();
  const failedOnes = new Set<number>();
  return {
    ready: (id) => readyOnes.add(id),
    failure: (id) => failedOnes.add(id),
    isReady: (id) => readyOnes.has(id),
    hasFailed: (id) => failedOnes.has(id),
    forget(id) {
      readyOnes.delete(id);
      failedOnes.delete(id);
    },
  };
}

/** What /readyz of an address says: nothing when all is well. */
async function complaint(base: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(3_000) });
    return answer.ok ? undefined : `answers ${answer.status}: ${(await answer.text()).slice(0, 300)}`;
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    return cause?.message ?? message;
  }
}

/** Waits until /readyz of an address says yes. @throws Error with what it says when it does not in time (ms) */
export async function whenReady(base: string, withinMs: number): Promise<void> {
  const until = Date.now() + withinMs;
  for (;;) {
    const fault = await complaint(base);
    if (!fault) return;
    if (Date.now() > until) throw new Error(`${base}/readyz ${fault}`);
    await sleep(POLL_MS);
  }
}

/** Waits for a condition. @returns false when it does not come in time (ms) */
export async function within(ms: number, holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const until = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > until) return false;
    await sleep(POLL_MS);
  }
  return true;
}
