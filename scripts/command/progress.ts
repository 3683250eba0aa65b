import { SingleBar } from 'cli-progress';

/** A command's progress, as shown to its user. */
export interface Progress {
  /** @param by number of items completed since the last call */
  advance(by: number): void;
  /** Names what is under way, after the bar. */
  show(text: string): void;
  /** Prints a line on standard output, above the bar. */
  line(text: string): void;
  /** Removes the bar. */
  stop(): void;
}

/**
 * Shows a progress bar on standard error, if that is a terminal; standard output is left to the command's results.
 *
 * @param total number of items
 * @param what the bar's label
 */
export function createProgress(total: number, what: string): Progress {
  const { stderr, stdout } = process;
  const bar = stderr.isTTY
    ? new SingleBar({
        stream: stderr,
        format: `${what} {bar} {percentage}%  {eta_formatted}  {now}`,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        barsize: 30,
        hideCursor: true,
        clearOnComplete: true,
        forceRedraw: true,
        etaBuffer: 50,
      })
    : undefined;
  bar?.start(Math.max(1, total), 0, { now: '' });
  return {
    advance(by) {
      bar?.increment(by);
    },
    show(text) {
      bar?.update({ now: text });
    },
    line(text) {
      // The bar is drawn again below; its old characters would remain after a shorter line.
      if (bar) stderr.write('\r\u001B[K');
      stdout.write(`${text}\n`);
    },
    stop() {
      bar?.stop();
    },
  };
}
