import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pretty from 'pino-pretty';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { logFolder } from './log-tail.js';

/**
 * `npm run cluster -- logs`: the last lines of the log of each kind of process, and with `follow` what is added,
 * until Ctrl-C. Reads files, so it also shows the logs of a cluster that does not run. Readable on a terminal,
 * else as they are.
 */
export async function showLogs(lines: number, follow: boolean): Promise<number> {
  const folder = logFolder(loadConfig());
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.log')) : [];
  if (files.length === 0) throw new Error(`There are no logs in ${folder}: npm run cluster`);
  // -F follows the name, through a rotation.
  const args = [
    '-q',
    '-n',
    String(lines),
    ...(follow ? ['-F'] : []),
    ...files.map((name) => join(folder, name)),
  ];
  const isTerminal = process.stdout.isTTY;
  const tail = spawn('tail', args, { stdio: ['ignore', isTerminal ? 'pipe' : 'inherit', 'inherit'] });
  tail.stdout?.pipe(pretty({ ignore: 'hostname', translateTime: 'HH:MM:ss.l' }));
  const end = () => tail.kill();
  process.once('SIGINT', end).once('SIGTERM', end);
  const [code] = await once(tail, 'close');
  return code ?? 0;
}
