import { expect } from 'chai';
import { AppError } from '../../domain/kernel/errors.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { type Budgets, budgets, type RateLimits } from '../../domain/platform/rate-limits/rate-limits.js';
import { counted } from '../support/counted.js';
import { sleep } from '../support/eventually.js';

/** Budgets with a short window. */
export const shortBudgets = Object.fromEntries(
  Object.keys(budgets).map((name) => [name, { points: 100, duration: 2 }]),
) as Budgets;

/** Takes `count` times from a budget, one after another. @returns the refusals */
export async function takeMany(limits: RateLimits, count: number, key: string | number): Promise<AppError[]> {
  const refusals: AppError[] = [];
  for (let i = 0; i < count; i += 1) {
    try {
      await limits.take('message', key);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusals.push(error);
    }
  }
  return refusals;
}

/** The guarantees of every implementation of the rate limits port. */
export function rateLimitsContract(name: string, open: () => RateLimits): void {
  let count = 0;

  describe(`rate limits: ${name}`, () => {
    let limits: RateLimits;
    let key: string;
    beforeEach(() => {
      count += 1;
      limits = open();
      key = `${process.pid}-${Math.random()}-${count}`;
    });

    it('lets a burst use the whole budget, and refuses more with the time to wait', async () => {
      const hits = () => counted(metrics.limitHits, { limit: 'message' });
      const before = await hits();
      const refusals = await takeMany(limits, 103, key);
      expect(refusals).lengthOf(3);
      expect((await hits()) - before).equal(3);
      for (const { code, status, retryAfterMs } of refusals) {
        expect(code).equal('RATE_LIMITED');
        expect(status).equal(429);
        expect(retryAfterMs).within(1, 2_000);
      }
    });

    it('takes several points at once, also more than a share', async () => {
      await limits.take('bytes', key, 60);
      await limits.take('bytes', key, 40);
      const refused = await limits.take('bytes', key, 1).catch((error: unknown) => error);
      expect(refused).instanceOf(AppError).with.property('code', 'RATE_LIMITED');
      expect((refused as AppError).errors).deep.equal(['more than 100 bytes in 2 s']);
    });

    it('counts every one of simultaneous requests', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 130 }, () => limits.take('message', key)),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).lengthOf(100);
    });

    it('keeps keys and budgets apart', async () => {
      await takeMany(limits, 101, key);
      await limits.take('message', `${key}-another`);
      await limits.take('read', key);
    });

    it('accepts numbers and text as keys', async () => {
      const no = Math.floor(Math.random() * 1e12);
      await takeMany(limits, 100, no);
      expect(await takeMany(limits, 1, String(no))).lengthOf(1);
    });

    it('restores it in time although the clock was set back', async () => {
      const { now } = Date;
      await takeMany(limits, 101, key);
      Date.now = () => now() - 3_600_000;
      try {
        const [refused] = await takeMany(limits, 1, key);
        expect(refused?.retryAfterMs).within(1, 2_000);
        await sleep((refused?.retryAfterMs ?? 0) + 20);
        expect(await takeMany(limits, 1, key)).lengthOf(0);
      } finally {
        Date.now = now;
      }
    });

    it('restores the whole budget, and no more, when the window is over', async () => {
      const begun = `${key}-begun`;
      await takeMany(limits, 1, begun);
      const [refused] = await takeMany(limits, 101, key);
      await sleep((refused?.retryAfterMs ?? 0) + 20);
      expect(await takeMany(limits, 101, key)).lengthOf(1);
      // What was left in the old window is not added.
      expect(await takeMany(limits, 101, begun)).lengthOf(1);
    });
  });
}
