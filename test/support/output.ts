/** Captures what a task prints in this process. @returns its result and output */
export async function printed<T>(work: () => Promise<T>) {
  const texts = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const originals = streams.map((name) => process[name].write);
  for (const name of streams) {
    process[name].write = ((text: string) => {
      texts[name] += text;
      return true;
    }) as typeof process.stdout.write;
  }
  try {
    const result = await work();
    return { result, ...texts };
  } finally {
    for (const [i, name] of streams.entries()) process[name].write = originals[i] as never;
  }
}
