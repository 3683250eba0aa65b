const ignore = () => {};

/** Runs tasks one after another, in the order they were added. */
export class SerialQueue {
  #tail: Promise<void> = Promise.resolve();

  /** Resolves or rejects as the task does; a failed task does not stop the next one. */
  add<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(task);
    // Without the result, which would stay in memory.
    this.#tail = run.then(ignore, ignore);
    return run;
  }
}
