/**
 * @returns a function that runs the work for a key; calls during its run get that run's result, and go on in their order.
 *   `running` is the run of a key, if there is one
 */
export function joinRunningOf<K, V>(work: (key: K) => Promise<V>) {
  const running = new Map<K, Promise<V>>();
  function join(key: K): Promise<V> {
    const known = running.get(key);
    if (known) return known;
    const run = work(key).finally(() => running.delete(key));
    running.set(key, run);
    return run;
  }
  return Object.assign(join, { running: (key: K): Promise<V> | undefined => running.get(key) });
}

/** As `joinRunningOf`, for work without a key. */
export function joinRunning<V>(work: () => Promise<V>): () => Promise<V> {
  const join = joinRunningOf<undefined, V>(work);
  return () => join(undefined);
}

/**
 * Calls during a run, and for some time after it, share its outcome, also a failure.
 * @param forMs that time, ms
 */
export function cachedFor<V>(forMs: number, work: () => Promise<V>): () => Promise<V> {
  let outcome: Promise<V> | undefined;
  /** By performance.now(). */
  let until = 0;
  const keep = () => {
    until = performance.now() + forMs;
  };
  return () => {
    if (!outcome || performance.now() >= until) {
      until = Number.POSITIVE_INFINITY;
      outcome = work();
      outcome.then(keep, keep);
    }
    return outcome;
  };
}

/**
 * Calls during a run join the next one, since the running one may have missed what the caller just
 * wrote: a hundred calls at once cost two runs. A failed run fails its own callers only.
 *
 * @param work runs for different keys may overlap, runs for one key never do
 */
export function joinNext<K, V>(work: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const running = new Map<K, Promise<V>>();
  const next = new Map<K, Promise<V>>();

  function start(key: K): Promise<V> {
    const run = work(key).finally(() => {
      if (running.get(key) === run) running.delete(key);
    });
    running.set(key, run);
    return run;
  }

  return function join(key) {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const current = running.get(key);
    if (!current) return start(key);
    const begin = () => {
      next.delete(key);
      return start(key);
    };
    const queued = current.then(begin, begin);
    next.set(key, queued);
    return queued;
  };
}
