import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Collection, Mongoose } from 'mongoose';
import { printed } from '../support/output.js';
import { openDatabase } from '../support/service.js';

/** The outcome of a script. */
export interface ScriptRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

const DIST = new URL('../../', import.meta.url);

/** Fills the database of MONGODB_URI with the sample data (seed.ts). */
export const SEED = new URL('./seed.js', import.meta.url).href;

/** The path of a built file, given relative to the build's root or as a URL. */
function built(path: string): string {
  return fileURLToPath(new URL(path, DIST));
}

/** Starts a script as a process, with only these settings. */
export function spawnScript(path: string, args: string[], settings: Record<string, string>) {
  return spawn(process.execPath, [built(path), ...args], {
    cwd: settings.DATA_DIR,
    env: { PATH: process.env.PATH, NODE_ENV: 'test', LOG_LEVEL: 'error', LOAD_SHEDDING: 'off', ...settings },
  });
}

/** Runs a script to its end. @param path below the build's root, for example `scripts/token.js` */
export async function runScript(
  path: string,
  args: string[],
  settings: Record<string, string>,
): Promise<ScriptRun> {
  const child = spawnScript(path, args, settings);
  const run: ScriptRun = { status: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    run.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    run.stderr += text;
  });
  [run.status] = await once(child, 'close');
  return run;
}

let runs = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a script to its end within this process, which has loaded most of its modules: a separate process costs
 * half a second of CPU time or more. Scripts run one after another, as the process has one output; not together
 * with service(), which uses this process's database connection.
 */
export function runHere(path: string, args: string[], settings: Record<string, string>): Promise<ScriptRun> {
  const run = last.then(() => runAlone(path, args, settings));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(path: string, args: string[], settings: Record<string, string>): Promise<ScriptRun> {
  const { argv, env, exitCode } = process;
  const folder = process.cwd();
  const streams = [process.stdout, process.stderr];
  const terminals = streams.map(({ isTTY }) => isTTY);
  process.argv = [process.execPath, built(path), ...args];
  process.env = { NODE_ENV: 'test', LOG_LEVEL: 'error', ...settings };
  process.exitCode = undefined;
  process.chdir(settings.DATA_DIR ?? folder);
  for (const stream of streams) stream.isTTY = false;
  runs += 1;
  try {
    // Another URL makes the module run again.
    const { stdout, stderr } = await printed(() => import(`${new URL(path, DIST)}?run=${runs}`));
    return { status: Number(process.exitCode ?? 0), stdout, stderr };
  } finally {
    for (const [i, stream] of streams.entries()) stream.isTTY = terminals[i] as boolean;
    process.chdir(folder);
    Object.assign(process, { argv, env });
    process.exitCode = exitCode;
  }
}

/** The last lines of an import: created, updated and unchanged records, and rejected rows. */
export function importSummary(members: number[], posts: number[], rejected: number): string[] {
  const row = ([created, updated, unchanged]: number[]) =>
    `${created} created, ${updated} updated, ${unchanged} unchanged`;
  return [`members         ${row(members)}`, `adoption posts  ${row(posts)}`, `rejected        ${rejected}`];
}

/** A test's database and folder. */
export type Scratch = Awaited<ReturnType<typeof openScratch>>;

/** The secret that signs the tests' tokens. */
export const SECRET = 'a secret of the script tests, long enough for HS256';

export async function openScratch() {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-scripts-'));
  const database = await openDatabase(`adoption_scripts_${process.pid}_${Date.now()}`);
  // A separate mongoose: a script that ends in this process closes all connections of the default one.
  const connection = await new Mongoose().createConnection(database.uri).asPromise();
  return {
    uri: database.uri,
    /** DATA_DIR, and the test's files. */
    folder,
    /** Settings that make a script use this database and folder. */
    settings: { DATA_DIR: folder, MONGODB_URI: database.uri, JWT_SECRET: SECRET },
    /** A collection without the domain, to inspect it and to plant faults. */
    collection: (name: string): Collection => connection.collection(name),
    /** Writes a file. @returns its path */
    file(name: string, content: string | Buffer): string {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    async close(): Promise<void> {
      await connection.close();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
