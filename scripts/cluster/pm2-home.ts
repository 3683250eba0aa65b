import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from 'embedded-mongo/unix-socket';
import type { Config } from '../../domain/platform/settings/config.js';

/** Time for processes without pm2 to end before they are killed, ms. */
const END_MS = 15_000;

/** PM2_HOME of a DATA_DIR's cluster: its pm2 is independent of any other of the same user. */
export const pm2Home = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>) => join(resolve(DATA_DIR), 'pm2');

/** Whether pm2's daemon answers; its pid file may be older than the last boot. */
export async function isRunning(home: string): Promise<boolean> {
  const socket = await connectTo(join(home, 'rpc.sock'));
  socket?.destroy();
  return socket !== undefined;
}

/** Waits for a condition. @returns false if it is not met in time (ms) */
export async function within(ms: number, isMet: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (!(await isMet())) {
    if (Date.now() > deadline) return false;
    await sleep(100);
  }
  return true;
}

/** Whether a process belongs to this home: a pid file's number may be reused by another program. */
function isOurs(pid: number, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`PM2_HOME=${home}`);
  } catch {
    // It has ended, is another user's, or this system has no /proc.
    return false;
  }
}

/** Processes whose pm2 is gone (killed by SIGKILL, for instance), from the pid files it left. */
export function findOrphans(home: string): number[] {
  const folder = join(home, 'pids');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const pids = files.map((file) => Number(readFileSync(join(folder, file), 'utf8')));
  return pids.filter((pid) => pid > 0 && isOurs(pid, home));
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Lets orphans drain, and kills those that do not end. @returns how many there were */
export async function endOrphans(home: string): Promise<number> {
  const pids = findOrphans(home);
  signal(pids, 'SIGTERM');
  if (!(await within(END_MS, () => findOrphans(home).length === 0))) signal(findOrphans(home), 'SIGKILL');
  return pids.length;
}
