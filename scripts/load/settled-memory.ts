import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from './measure.js';
import type { RunningServer } from './start-server.js';

/** Lets the load test collect a process's garbage, so that only memory in use is measured. */
export const COLLECTS = ['--import', new URL('./collect-on-signal.js', import.meta.url).href];

/** Longest wait for memory to settle, s, and the interval of collections meanwhile, ms. */
export const SETTLING_SECONDS = 20;
const COLLECT_EVERY_MS = 1_000;

/** Memory has settled when this many collections in a row changed it by less than this share. */
const SETTLED_TIMES = 2;
const SETTLED_SHARE = 0.002;

/** Private memory in bytes once it has settled. */
export async function settledMemory(server: RunningServer, seconds: number): Promise<number> {
  let memory = memoryOf(server);
  let settled = 0;
  for (let left = seconds; left > 0 && settled < SETTLED_TIMES; left -= 1) {
    for (const pid of server.pids) process.kill(pid, 'SIGUSR2');
    await sleep(COLLECT_EVERY_MS);
    const before = memory;
    memory = memoryOf(server);
    settled = Math.abs(before - memory) < before * SETTLED_SHARE ? settled + 1 : 0;
  }
  return memory;
}
