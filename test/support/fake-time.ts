interface Timer {
  due: number;
  after: number;
  /** Of an interval. */
  every: boolean;
  run(): void;
}

export interface FakeTime {
  /** Moves the time and runs the timers that come due, each followed by whatever it sets going. */
  pass(ms: number): Promise<void>;
  /** Moves the time and runs nothing, as for a process that stands still. */
  skip(ms: number): void;
  /** Timers that have not run and were not cleared. */
  readonly pending: number;
  /** Back to the real ones. */
  restore(): void;
}

/** What promises and turns of the loop have put off has run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Global timers and performance.now() that stand still until they are moved. The mock of node:test knows
 * neither performance.now() nor refresh() of a timer.
 */
export function fakeTime(): FakeTime {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  const realNow = performance.now;
  const timers = new Set<Timer>();
  // Whole ms: sums of fractions would put timers a hair behind the end of a step.
  let now = Math.ceil(realNow.call(performance));

  const start =
    (every: boolean) =>
    (task: (...args: unknown[]) => void, after: number, ...args: unknown[]) => {
      const timer: Timer = { due: now + after, after, every, run: () => task(...args) };
      timers.add(timer);
      return Object.assign(timer, {
        ref: () => timer,
        unref: () => timer,
        hasRef: () => false,
        refresh() {
          timer.due = now + timer.after;
          timers.add(timer);
          return timer;
        },
      });
    };
  const clear = (timer: unknown) => void timers.delete(timer as Timer);
  Object.assign(globalThis, {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: clear,
    clearInterval: clear,
  });
  performance.now = () => now;

  /** The timer that comes due first, of those that do until then. */
  function nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.due <= end && timer.due < (next?.due ?? Infinity)) next = timer;
    return next;
  }

  return {
    async pass(ms) {
      const end = now + ms;
      await settle();
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        now = Math.max(now, timer.due);
        if (timer.every) timer.due = now + timer.after;
        else timers.delete(timer);
        timer.run();
        await settle();
      }
      now = end;
    },
    skip(ms) {
      now += ms;
    },
    get pending() {
      return timers.size;
    },
    restore() {
      Object.assign(globalThis, real);
      performance.now = realNow;
    },
  };
}
