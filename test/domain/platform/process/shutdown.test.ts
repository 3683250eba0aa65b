import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { Shutdown } from '../../../../domain/platform/process/shutdown.js';
import { eventually, sleep } from '../../../support/eventually.js';
import { fakeTime } from '../../../support/time.js';

describe('an ordered stop', () => {
  const logger = createLogger('silent', 'test');
  const steps = (shutdown: Shutdown, log: string[]) => ({
    add: (name: string, run: () => unknown) =>
      shutdown.add(name, async () => {
        log.push(`${name} starts`);
        await run();
        log.push(`${name} ends`);
      }),
  });

  it('runs its steps one after another, in the order they were added', async () => {
    const log: string[] = [];
    const shutdown = new Shutdown(logger, 5_000);
    const { add } = steps(shutdown, log);
    add('first', () => sleep(20));
    add('second', () => {});
    expect(shutdown.draining).to.equal(false);
    const stopped = shutdown.begin('test');
    expect(shutdown.draining, 'readiness says so at once').to.equal(true);
    await stopped;
    expect(log).to.deep.equal(['first starts', 'first ends', 'second starts', 'second ends']);
  });

  it('runs once, however often it is begun', async () => {
    const log: string[] = [];
    const shutdown = new Shutdown(logger, 5_000);
    steps(shutdown, log).add('only', () => {});
    await Promise.all([shutdown.begin('one'), shutdown.begin('two')]);
    await shutdown.begin('three');
    expect(log).to.deep.equal(['only starts', 'only ends']);
  });

  it('continues after a step that fails, synchronously or later', async () => {
    const log: string[] = [];
    const shutdown = new Shutdown(logger, 5_000);
    shutdown.add('throws', () => {
      throw new Error('at once');
    });
    shutdown.add('rejects', () => Promise.reject(new Error('later')));
    steps(shutdown, log).add('last', () => {});
    await shutdown.begin('test');
    expect(log).to.deep.equal(['last starts', 'last ends']);
  });

  it('has one deadline for all steps, and still runs those after one that hangs', async () => {
    const log: string[] = [];
    const shutdown = new Shutdown(logger, 250);
    const { add } = steps(shutdown, log);
    for (let i = 0; i < 8; i += 1) add('hangs', () => new Promise(() => {}));
    add('quick', () => {});
    const before = performance.now();
    await shutdown.begin('test');
    expect(performance.now() - before).to.be.within(240, 1_500);
    expect(log).to.deep.equal([...Array(8).fill('hangs starts'), 'quick starts', 'quick ends']);
  });

  it('keeps its deadline when the clock is set back meanwhile', async () => {
    const time = fakeTime();
    const clock = mock.method(Date, 'now');
    try {
      const log: string[] = [];
      const shutdown = new Shutdown(logger, 250);
      const { add } = steps(shutdown, log);
      for (let i = 0; i < 2; i += 1) add('hangs', () => new Promise(() => {}));
      add('quick', () => {});
      const hourAgo = Date.now() - 3_600_000;
      void shutdown.begin('test');
      clock.mock.mockImplementation(() => hourAgo);
      await time.pass(260);
      expect(log.at(-1)).to.equal('quick ends');
    } finally {
      clock.mock.restore();
      time.restore();
    }
  });
});

describe('a process that stops', () => {
  let child: ChildProcess;
  let messages: string[];
  let stderr: string;
  let gone: Promise<number | null>;

  beforeEach(async () => {
    child = fork(fileURLToPath(new URL('./stopping-process.js', import.meta.url)), [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    messages = [];
    stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    gone = once(child, 'close').then(([status]) => status);
    child.on('message', (message) => messages.push(String(message)));
    await eventually(() => expect(messages).to.deep.equal(['ready']));
  });
  afterEach(() => {
    child.kill('SIGKILL');
  });

  /** How often its `onUnexpected` was called. */
  async function unexpected(): Promise<unknown> {
    const told = once(child, 'message');
    child.send('count');
    return (await told)[0];
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`by ${signal} runs its steps and exits 0`, async () => {
      child.kill(signal);
      expect(await gone).to.equal(0);
      expect(messages).to.deep.equal(['ready', 'first']);
    });
  }

  it('exits with 1 at once on a second signal', async () => {
    child.send('hang');
    child.kill('SIGTERM');
    await eventually(() => expect(messages).to.include('first'));
    child.kill('SIGINT');
    expect(await gone).to.equal(1);
  });

  it('takes SIGINT twice within a second for one, as npm passes on what the terminal has sent', async () => {
    child.send('hang');
    child.kill('SIGINT');
    await eventually(() => expect(messages).to.include('first'));
    child.kill('SIGINT');
    expect(await unexpected()).to.equal('0 unexpected');
    child.kill('SIGTERM');
    expect(await gone).to.equal(1);
  });

  it('survives an unhandled rejection, which is logged and counted', async () => {
    expect(await unexpected()).to.equal('0 unexpected');
    child.send('reject');
    await eventually(() => expect(stderr).to.include('nobody awaits this'));
    expect(await unexpected()).to.equal('1 unexpected');
    child.kill('SIGTERM');
    expect(await gone).to.equal(0);
  });

  it('runs its steps and exits with 1 after an uncaught exception', async () => {
    child.send('throw');
    expect(await gone).to.equal(1);
    expect(messages).to.deep.equal(['ready', 'first']);
    expect(stderr).to.include('uncaught exception').and.include('SyntaxError');
  });

  it('logs its name, and no credentials', async () => {
    child.send('log');
    child.kill('SIGTERM');
    await gone;
    const line = JSON.parse(stderr);
    expect(line).to.include({ name: 'stopping', level: 'error', msg: 'e' });
    const hidden = '[redacted]';
    expect(line.req).to.deep.equal({ authorization: hidden, token: hidden, cookie: hidden, url: 'd' });
  });
});
