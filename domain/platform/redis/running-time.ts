/** Parts of a time-out. A stall of the process counts as one of them, however long it is. */
const PARTS = 4;

/** What a time-out waits for. */
interface Awaited {
  /** Whether there is nothing to wait for any more. */
  isOver(): boolean;
  /** Gets each timer, which may be cleared. */
  keep(timer: NodeJS.Timeout): void;
}

/**
 * Calls back after a time in which the process ran. After a stall, timers run before answers that have arrived are
 * read: a busy process would take Redis for away.
 * @param ms the time, if there are no stalls
 */
export function afterRunning(ms: number, awaited: Awaited, onTimeout: () => void, parts = PARTS): void {
  const end = () => {
    if (awaited.isOver()) return;
    if (parts > 1) afterRunning((ms * (parts - 1)) / parts, awaited, onTimeout, parts - 1);
    else onTimeout();
  };
  awaited.keep(setTimeout(() => setImmediate(end), ms / parts));
}
