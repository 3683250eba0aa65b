import { setTimeout } from 'node:timers/promises';
import { failure, ok, type Verdict, warning } from './check.js';
import { below, messageOf, request } from './request.js';

/** Time for a process to become ready again, ms: an overload counts for 2 s longer than it lasts. (docs/runbook.md, "Shedding") */
const RECOVERY_MS = 4_000;

/** Time between two questions, ms: a process asks its backends once a second at most. */
const PAUSE_MS = 500;

/** Whether a process can serve. */
export interface Readiness {
  isReady: boolean;
  /** Why it cannot, or at first could not. */
  reason?: string | undefined;
}

/**
 * Asks a process whether it can serve, until it can or RECOVERY_MS have passed.
 * @param base address of one of its ports
 * @throws Fault if it does not answer
 */
export async function readinessOf(base: string): Promise<Readiness> {
  const until = performance.now() + RECOVERY_MS;
  let reason: string | undefined;
  for (;;) {
    const answer = await request(below(base, '/readyz')).catch((fault) => {
      // One that was stopping has ended.
      if (reason === undefined) throw fault;
      return undefined;
    });
    if (answer?.status === 200 && /^\{"ready":true\}\s*$/.test(answer.body)) return { isReady: true, reason };
    if (answer) reason = messageOf(answer.body);
    if (!answer || performance.now() > until) return { isReady: false, reason };
    await setTimeout(PAUSE_MS);
  }
}

/** What to do, by a word of the reason. (domain/open-domain.ts: probe) */
const REMEDIES: [reason: RegExp, remedy: string][] = [
  [/overloaded/, 'more processes or cores, or less beside it on this machine (docs/runbook.md, "Shedding")'],
  [/is going/, 'it is being stopped; if that does not end: docs/runbook.md, "NotReady"'],
  [/is starting/, 'wait; if that does not end: its log (docs/runbook.md, "A stuck deploy")'],
  [/Redis/, 'docs/runbook.md, "RedisAway"'],
  [/database/, 'docs/runbook.md, "DatabaseAway"'],
];

/** Judges whether a process can serve. @param whose it is, for example `the service at http://127.0.0.1:8080` */
export function judgeReadiness(whose: string, { isReady, reason }: Readiness): Verdict {
  if (reason === undefined) return ok(`${whose} is ready`);
  const [, remedy] = REMEDIES.find(([words]) => words.test(reason)) ?? [
    undefined,
    'docs/runbook.md, "NotReady"',
  ];
  return isReady
    ? warning(`${whose} is ready, and was not some seconds ago: ${reason}`, `if it happens often: ${remedy}`)
    : failure(`${whose} is not ready: ${reason}`, remedy);
}
