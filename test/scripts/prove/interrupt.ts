import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import type { Readable } from 'node:stream';

/** Resolves when a program has printed this. */
export async function untilPrinted(stream: Readable, text: RegExp): Promise<void> {
  let printed = '';
  for await (const [chunk] of on(stream, 'data', { close: ['end'] })) {
    printed += chunk;
    if (text.test(printed)) return;
  }
  throw new Error(`printed ${printed}`);
}

/** As Ctrl-C does: the terminal tells the program, and npm once more. */
export function interrupt(child: ChildProcess): void {
  child.kill('SIGINT');
  child.kill('SIGINT');
}

/** NODE_OPTIONS that run this code before a program. */
export const preload = (code: string): string => `--import=data:text/javascript,${encodeURIComponent(code)}`;
