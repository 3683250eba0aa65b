import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { register } from 'prom-client';
import { projectRoot } from '../../process/project-root.js';
import { processMetrics } from './of-process.js';

/** The kinds of processes; `service` is all in one. */
export type ProcessKind = 'gateway' | 'http' | 'service';

/** A file's text without the line break at its end; undefined if it cannot be read. */
function read(...path: string[]): string | undefined {
  try {
    return readFileSync(join(...path), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/**
 * The commit that a Git working folder is at, read without Git: it refuses the folders of other users.
 * @param root the folder
 * @returns undefined without a Git folder
 */
export function commitOf(root: string): string | undefined {
  // A file in further working folders, whose branches are in that of the first.
  const [, linked] = /^gitdir: (.+)$/m.exec(read(root, '.git') ?? '') ?? [];
  const folder = resolve(root, linked ?? '.git');
  const head = read(folder, 'HEAD');
  if (!head?.startsWith('ref: ')) return head;
  const ref = head.slice('ref: '.length);
  const common = resolve(folder, read(folder, 'commondir') ?? '.');
  const packed = (read(common, 'packed-refs') ?? '').split('\n').map((line) => line.split(' '));
  return read(common, ref) ?? packed.find(([, name]) => name === ref)?.[0];
}

function show(engine: string): void {
  const root = projectRoot();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const commit = commitOf(root) ?? 'unknown';
  processMetrics.build.reset();
  processMetrics.build.set({ version, commit, node: process.version, engine }, 1);
}

/** Adds the kind of process to every metric, and shows its build. To be called at its start. */
export function nameProcess(kind: ProcessKind): void {
  register.setDefaultLabels({ process: kind });
  show('none');
}

/** Shows which engine serves the sockets of this process. */
export function nameEngine(engine: string): void {
  show(engine);
}
