import { expect } from 'chai';
import { createLogger } from '../../domain/platform/logger.js';
import { createShutdown } from '../../domain/platform/shutdown.js';

describe('an ordered stop', () => {
  const logger = createLogger('silent', 'test');
  const steps = (shutdown: ReturnType<typeof createShutdown>, log: string[]) => ({
    add: (name: string, run: () => unknown) =>
      shutdown.add(name, async () => {
        log.push(`${name} starts`);
        await run();
        log.push(`${name} ends`);
      }),
  });

  it('runs its steps one after another, in the order they were added', async () => {
    const log: string[] = [];
    const shutdown = createShutdown(logger, 5_000);
    const { add } = steps(shutdown, log);
    add('first', () => new Promise((resolve) => setTimeout(resolve, 20)));
    add('second', () => {});
    expect(shutdown.draining).to.equal(false);
    const stopped = shutdown.begin('test');
    expect(shutdown.draining, 'readiness says so at once').to.equal(true);
    await stopped;
    expect(log).to.deep.equal(['first starts', 'first ends', 'second starts', 'second ends']);
  });

  it('runs once, however often it is begun', async () => {
    const log: string[] = [];
    const shutdown = createShutdown(logger, 5_000);
    steps(shutdown, log).add('only', () => {});
    await Promise.all([shutdown.begin('one'), shutdown.begin('two')]);
    await shutdown.begin('three');
    expect(log).to.deep.equal(['only starts', 'only ends']);
  });

  it('goes on behind a step that fails, at once or later', async () => {
    const log: string[] = [];
    const shutdown = createShutdown(logger, 5_000);
    shutdown.add('throws', () => {
      throw new Error('at once');
    });
    shutdown.add('rejects', () => Promise.reject(new Error('later')));
    steps(shutdown, log).add('last', () => {});
    await shutdown.begin('test');
    expect(log).to.deep.equal(['last starts', 'last ends']);
  });

  it('keeps its deadline when a step hangs, and still runs the ones behind it', async () => {
    const log: string[] = [];
    const shutdown = createShutdown(logger, 150);
    const { add } = steps(shutdown, log);
    add('hangs', () => new Promise(() => {}));
    add('quick', () => {});
    const before = Date.now();
    await shutdown.begin('test');
    expect(Date.now() - before).to.be.within(100, 1_000);
    expect(log).to.deep.equal(['hangs starts', 'quick starts', 'quick ends']);
  });
});
