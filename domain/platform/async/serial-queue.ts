/** Runs tasks one after another, in the order they were added. */
export class SerialQueue {
  #tail: Promise<void> = Promise.resolve();
  #unfinished = 0;

  get isIdle(): boolean {
    return this.#unfinished === 0;
  }

  /** Resolves or rejects as the task does; a failed task does not stop the next one. */
  add<T>(task: () => Promise<T>): Promise<T> {
    this.#unfinished += 1;
    const run = this.#tail.then(task);
    const finish = () => {
      this.#unfinished -= 1;
    };
    // Without the result, which would stay in memory.
    this.#tail = run.then(finish, finish);
    return run;
  }
}
