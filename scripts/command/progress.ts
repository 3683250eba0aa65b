import { SingleBar } from 'cli-progress';

/** How far a command is, for whoever watches. */
export interface Progress {
  /** @param by how many more are done */
  advance(by: number): void;
  /** Prints a line on standard output, above the bar. */
  line(text: string): void;
  /** Takes the bar away. */
  stop(): void;
}

/**
 * A progress bar on standard error where that is a terminal, and nothing where it is not: standard
 * output stays free for what the command has to say.
 *
 * @param total what is complete
 * @param what is done, for a bar with several parts
 */
export function createProgress(total: number, what: string): Progress {
  const { stderr, stdout } = process;
  const bar = stderr.isTTY
    ? new SingleBar({
        stream: stderr,
        format: `${what} {bar} {percentage}%  {eta_formatted}`,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        barsize: 30,
        hideCursor: true,
        clearOnComplete: true,
        forceRedraw: true,
        etaBuffer: 50,
      })
    : undefined;
  bar?.start(Math.max(1, total), 0);
  return {
    advance(by) {
      bar?.increment(by);
    },
    line(text) {
      // The bar draws itself anew below; without this its rest would stay behind the line.
      if (bar) stderr.write('\r\u001B[K');
      stdout.write(`${text}\n`);
    },
    stop() {
      bar?.stop();
    },
  };
}
