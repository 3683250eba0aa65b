import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Places } from './places.js';

/** Most bytes, from the end, in which the last lines are looked for. */
const TAIL_BYTES = 16_384;

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Notes where the logs of some processes end now.
 * @returns a function that reads the last lines one of them has written since
 */
export function markLogs({ logs }: Places, names: string[]): (name: string, lines: number) => string[] {
  const paths = new Map(names.map((name) => [name, join(logs, `${name}.log`)]));
  const marks = new Map([...paths.values()].map((path) => [path, sizeOf(path)]));
  return (name, lines) => {
    const path = paths.get(name);
    if (!path) return [];
    const end = sizeOf(path);
    const start = Math.max(marks.get(path) ?? 0, end - TAIL_BYTES);
    if (end <= start) return [];
    const bytes = Buffer.alloc(end - start);
    const file = openSync(path, 'r');
    try {
      readSync(file, bytes, 0, bytes.length, start);
    } finally {
      closeSync(file);
    }
    return bytes.toString().trimEnd().split('\n').slice(-lines);
  };
}
