import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../domain/platform/process/project-root.js';

/** What was measured, and with what. */
export interface Provenance {
  /** Git commit, `+` if files are changed; unset outside a repository. */
  commit?: string;
  /** Of the service's and the peers' packages and programs, as far as they are installed. */
  versions: Record<string, string>;
}

const PACKAGES = [
  ...['uWebSockets.js', 'socket.io', 'socket.io-client', '@socket.io/redis-adapter', 'ioredis', 'ws'],
  ...['koa', 'mongodb', 'mongoose', 'lmdb'],
];

/** Programs, and what prints their version. nchan is a module without a program. */
const PROGRAMS: Record<string, [program: string, ...args: string[]]> = {
  nginx: ['nginx', '-v'],
  nchan: ['dpkg-query', '--show', 'libnginx-mod-nchan'],
  mosquitto: ['mosquitto', '-h'],
  'redis-server': ['redis-server', '--version'],
};

const VERSION = /\d+\.\d+(\.\d+)?/;

function outputOf(program: string, ...args: string[]): string | undefined {
  // nginx and mosquitto are outside the PATH of many users.
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', cwd: projectRoot(), env });
  return error ? undefined : `${stdout}${stderr}`.trim();
}

function packageVersion(name: string): string | undefined {
  try {
    const text = readFileSync(join(projectRoot(), 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version?: string }).version;
  } catch {
    return undefined;
  }
}

export function provenance(): Provenance {
  const commit = outputOf('git', 'rev-parse', '--short=12', 'HEAD');
  const changed = outputOf('git', 'status', '--porcelain', '--untracked-files=no') ? '+' : '';
  const versions: [string, string | undefined][] = [
    ...PACKAGES.map((name): [string, string | undefined] => [name, packageVersion(name)]),
    ...Object.entries(PROGRAMS).map(([name, command]): [string, string | undefined] => [
      name,
      VERSION.exec(outputOf(...command) ?? '')?.[0],
    ]),
  ];
  return {
    ...(commit && /^[0-9a-f]+$/.test(commit) && { commit: commit + changed }),
    versions: Object.fromEntries(versions.filter((one): one is [string, string] => one[1] !== undefined)),
  };
}
