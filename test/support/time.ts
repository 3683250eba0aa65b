import { nextTurn } from './eventually.js';

/** Runs a task while performance.now() shows a time that is later by so many ms. */
export async function later<T>(ms: number, run: () => Promise<T>): Promise<T> {
  const { now } = performance;
  performance.now = () => now.call(performance) + ms;
  try {
    return await run();
  } finally {
    performance.now = now;
  }
}

/** Runs a task while performance.now() stands still, except where the task advances it. */
export async function inStoppedTime(task: (advance: (ms: number) => void) => Promise<void>): Promise<void> {
  const { now } = performance;
  // A whole number: sums of fractions are off by a little, and tests pass exactly the time that is allowed.
  let time = Math.ceil(performance.now());
  performance.now = () => time;
  try {
    await task((ms) => {
      time += ms;
    });
  } finally {
    performance.now = now;
  }
}

interface Timer {
  due: number;
  after: number;
  /** Of an interval. */
  every: boolean;
  run(): void;
}

export type FakeTime = ReturnType<typeof fakeTime>;

/**
 * Replaces the global timers and performance.now(): time passes only by `pass` and `skip`. As Node.js does, timers ignore
 * fractions of a ms. node:test's mock supports
 * neither performance.now() nor refresh() of a timer.
 */
export function fakeTime() {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  const realNow = performance.now;
  const timers = new Set<Timer>();
  // Whole ms: the rounding of fractions would put timers just behind the end of a step.
  let now = Math.ceil(realNow.call(performance));

  const start =
    (every: boolean) =>
    (task: (...args: unknown[]) => void, after: number, ...args: unknown[]) => {
      const whole = Math.trunc(after);
      const timer: Timer = { due: now + whole, after: whole, every, run: () => task(...args) };
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

  /** The timer that comes due first, if one does until then. */
  function nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.due <= end && timer.due < (next?.due ?? Infinity)) next = timer;
    return next;
  }

  return {
    /** Advances the time and runs each timer that comes due, with the promises that it settles. */
    async pass(ms: number): Promise<void> {
      const end = now + ms;
      await nextTurn(10);
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        now = Math.max(now, timer.due);
        if (timer.every) timer.due = now + timer.after;
        else timers.delete(timer);
        timer.run();
        await nextTurn(10);
      }
      now = end;
    },
    /** Advances the time and runs nothing, as in a process that was suspended. */
    skip(ms: number): void {
      now += ms;
    },
    /** Number of timers that have not run and were not cleared. */
    get pending() {
      return timers.size;
    },
    /** Restores the real timers and clock. */
    restore(): void {
      Object.assign(globalThis, real);
      performance.now = realNow;
    },
  };
}
