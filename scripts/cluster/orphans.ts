import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Places } from './places.js';
import { within } from './readiness.js';

/** How long, in ms, processes whose pm2 is gone may take to end before they are killed. */
const END_MS = 15_000;

/** Whether a process runs and is one of this home's: its pid may long be another program's. */
function isOurs(pid: number, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`PM2_HOME=${home}`);
  } catch {
    // Gone, or another user's, or no /proc here.
    return false;
  }
}

/** Processes of a cluster that outlived their pm2 (killed with SIGKILL, say), by the pid files it left. */
export function findOrphans({ home }: Pick<Places, 'home'>): number[] {
  let names: string[];
  try {
    names = readdirSync(join(home, 'pids'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .map((name) => Number(readFileSync(join(home, 'pids', name), 'utf8')))
    .filter((pid) => pid > 0 && isOurs(pid, home));
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended by itself meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Lets them drain, and kills those that do not. @returns how many there were */
export async function endOrphans(places: Places): Promise<number> {
  const pids = findOrphans(places);
  signal(pids, 'SIGTERM');
  const left = () => pids.filter((pid) => isOurs(pid, places.home));
  if (!(await within(END_MS, () => left().length === 0))) signal(left(), 'SIGKILL');
  return pids.length;
}
