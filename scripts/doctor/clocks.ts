import { type Check, failure, ok, Skipped, type Verdict, warning } from './check.js';
import type { Answer } from './request.js';

/** Beyond this, s, a token's `iat` counts as one of the future (domain/members/verify-token.ts). */
const FAILURE_S = 60;

/** Processes on machines whose clocks agree better than this, s, need no attention. */
const WARNING_S = 2;

/** @param skewMs a clock minus ours */
function judgeSkew(whose: string, skewMs: number): Verdict {
  const seconds = Math.abs(skewMs) / 1_000;
  const text = `the clock of ${whose} is ${seconds.toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead of'} ours`;
  const remedy = 'synchronize both: timedatectl, chrony';
  if (seconds > FAILURE_S) return failure(`${text}: fresh tokens are refused, and times are wrong`, remedy);
  return seconds > WARNING_S ? warning(text, remedy) : ok(text);
}

/** @returns the Date header's time minus ours, ms; on average it is cut off half a second */
function skewOf({ headers, sentAt, answeredAt }: Answer): number {
  if (!headers.date) throw new Skipped('the answer has no Date header');
  return Date.parse(headers.date) + 500 - (sentAt + answeredAt) / 2;
}

/** This machine's clock against those of the database, Redis and the public address. */
export function clockChecks(
  database: () => Promise<number>,
  redis: () => Promise<number>,
  address: () => Promise<Answer>,
): Check[] {
  return [
    { name: 'clock of database', run: async () => judgeSkew('the database', await database()) },
    { name: 'clock of redis', run: async () => judgeSkew('Redis', await redis()) },
    { name: 'clock of address', run: async () => judgeSkew('the public address', skewOf(await address())) },
  ];
}
