/** Longest wait, in ms, for a condition, an event or an answer, also on a busy machine. */
export const WAIT_MS = 40_000;

/** Interval, in ms, between two checks of a condition. */
const EVERY_MS = 20;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves after pending promises and I/O callbacks have run, once for each turn of the event loop. */
export async function nextTurn(turns = 1): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Holds work at a chosen point until the test opens it. */
export function gate(): { open(): void; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

/** Resolves when a check passes; rejects with its last failure when it does not in time. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = WAIT_MS): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(EVERY_MS);
    }
  }
}

/** Everything received from one source, so that an early entry is not missed. */
export interface ReceivedLog<T> {
  /** In order of arrival. */
  readonly entries: T[];
  add(entry: T): void;
  /** The first entry that matches, received already or later; rejects after a timeout with what was received. */
  next(matches: (entry: T) => boolean): Promise<T>;
}

export function createReceivedLog<T>(): ReceivedLog<T> {
  const entries: T[] = [];
  const waiting = new Set<() => void>();
  return {
    entries,
    add(entry) {
      entries.push(entry);
      for (const check of [...waiting]) check();
    },
    next(matches) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          const received = JSON.stringify(entries).slice(0, 2_000);
          reject(new Error(`nothing that matches in ${WAIT_MS} ms; received: ${received}`));
        }, WAIT_MS);
        function check(): void {
          const found = entries.find(matches);
          if (found === undefined) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(found);
        }
        waiting.add(check);
        check();
      });
    },
  };
}
