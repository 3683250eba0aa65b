/** Runs a task while `performance.now()` stands still, except where the task moves it on (ms). */
export async function inStoppedTime(task: (pass: (ms: number) => void) => Promise<void>): Promise<void> {
  let now = performance.now();
  Object.defineProperty(performance, 'now', { configurable: true, value: () => now });
  try {
    await task((ms) => {
      now += ms;
    });
  } finally {
    Reflect.deleteProperty(performance, 'now');
  }
}
