import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a reload replaces: all processes, those that an ended one left, or those that it touched, by what they were. */
export type ReloadMode = 'all' | 'resume' | 'back';

/** How far a reload is, which may end at any process, or be killed. */
export interface UnfinishedReload {
  /** By id of each process that it began to replace: what its environment held before, '' for what it had not. */
  touched: Record<number, Record<string, string>>;
  /** The processes that got ready. */
  ready: number[];
}

const pathOf = (home: string) => join(home, 'unfinished-reload.json');

/** @returns undefined after a reload that was completed */
export function readUnfinished(home: string): UnfinishedReload | undefined {
  const path = pathOf(home);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Readable by this user alone: settings may be secrets. */
export function writeUnfinished(home: string, reload: UnfinishedReload): void {
  const path = pathOf(home);
  writeFileSync(`${path}.new`, JSON.stringify(reload), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** To be called once a reload is completed, and before a start, which numbers its processes anew. */
export function forgetUnfinished(home: string): void {
  rmSync(pathOf(home), { force: true });
}

/** @throws Error if no reload has ended that could be resumed or taken back */
export function planReload<P extends { id: number }>(
  mode: ReloadMode,
  serving: P[],
  unfinished: UnfinishedReload | undefined,
): P[] {
  if (mode === 'all') return serving;
  if (!unfinished) throw new Error(`reload --${mode}: the last reload was completed, or none was begun`);
  return serving.filter(({ id }) =>
    mode === 'resume' ? !unfinished.ready.includes(id) : unfinished.touched[id] !== undefined,
  );
}

/** What of an environment changes if others are put over it, '' for what it had not. */
export function valuesBefore(env: Record<string, string>, over: NodeJS.ProcessEnv): Record<string, string> {
  const changed = Object.entries(over).filter(([name, value]) => value !== undefined && env[name] !== value);
  return Object.fromEntries(changed.map(([name]) => [name, env[name] ?? '']));
}
