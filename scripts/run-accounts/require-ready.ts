import { reasonOf } from './rest.js';

/** Longest wait for an answer, ms. */
const WITHIN_MS = 5_000;

/**
 * Checks that an installation answers. A public address need not pass /readyz on: only a process that says that it
 * cannot serve is refused.
 *
 * @param name the option that the address is of
 * @throws Error naming both
 */
export async function requireReady(name: string, base: string): Promise<void> {
  let answer: Response;
  try {
    answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(WITHIN_MS) });
  } catch (error) {
    throw new Error(`--${name}: nothing answers at ${base}: ${reasonOf(error)}`);
  }
  if (answer.status === 503) throw new Error(`--${name}: ${base} is not ready: ${await answer.text()}`);
}
