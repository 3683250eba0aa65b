import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../domain/platform/config.js';
import { projectRoot } from '../../domain/platform/project-root.js';
import { type Check, failure, ok, Skipped, type Verdict, warning } from './check.js';

/** Fewer open files than this are a fault, and fewer than the second number a few thousand members will meet. */
const [FEW_FILES, MANY_FILES] = [1_024, 16_384];

/** Share of a disk that should stay free. (docs/operations.md, "Alerts worth having") */
const FREE_SHARE = 0.2;

/** File systems of other machines: NFS, SMB, CIFS, SMB2. (statfs(2)) */
const NETWORK = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** Compares versions such as 20.19.0, part by part. */
function isAtLeast(version: string, least: string): boolean {
  const [have, need] = [version, least].map((text) => text.split('.').map(Number));
  const at = need?.findIndex((part, i) => part !== have?.[i]) ?? -1;
  return at < 0 || (have?.[at] as number) > (need?.[at] as number);
}

/** Judges a version of Node by package.json's `engines`, alternatives of the form `^20.19.0` or `>=20.19.0`. */
export function judgeNode(version: string, range: string): Verdict {
  const fits = range.split('||').some((one) => {
    const [, sign, least = ''] = /^\s*(\^|>=)\s*([\d.]+)\s*$/.exec(one) ?? [];
    return (
      sign && isAtLeast(version, least) && (sign === '>=' || parseInt(version, 10) === parseInt(least, 10))
    );
  });
  if (fits) return ok(`Node ${version}`);
  return failure(`Node ${version} is not supported`, `install one of ${range.replaceAll('||', 'or')}`);
}

/** Whether uWebSockets.js loads, which the gateway can replace by ws; in a process of its own, which a bad binary may end. */
async function checkEngine(config: () => Pick<Config, 'GATEWAY_ENGINE'>): Promise<Verdict> {
  const load = "await import('uWebSockets.js')";
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', load], { cwd: projectRoot() });
    return ok('uWebSockets.js loads');
  } catch (error) {
    const { stderr = '', signal } = error as { stderr?: string; signal?: string };
    const why =
      /^(?:\w*Error.*|.*version `.*)$/m.exec(stderr)?.[0] ?? (signal ? `ends by ${signal}` : 'fails');
    const { GATEWAY_ENGINE } = config();
    if (GATEWAY_ENGINE === 'ws') return ok('ws, as GATEWAY_ENGINE says');
    const text = `uWebSockets.js does not load: ${why}`;
    const remedy = 'Node 20 or 22 on glibc, or a newer package (docs/operations.md, "What sockets run on")';
    return GATEWAY_ENGINE === 'uws' ? failure(text, remedy) : warning(`${text}; sockets run on ws`, remedy);
  }
}

/** The most files that a process may open, where the system tells. (proc(5), limits) */
function fileLimit(pid: number | 'self'): number | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? [];
    return limit === undefined ? undefined : limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return undefined;
  }
}

/** @param pids of the service's processes; without any, of this process */
async function checkFiles(pids: number[]): Promise<Verdict> {
  const measured = pids.map(fileLimit).filter((limit) => limit !== undefined);
  const limit = measured.length > 0 ? Math.min(...measured) : fileLimit('self');
  if (limit === undefined) throw new Skipped('this system does not tell how many files a process may open');
  const whose = measured.length > 0 ? 'a process of the service' : 'a process started from here';
  const text = `${whose} may open ${limit} files; each socket and stream takes one`;
  const remedy = 'LimitNOFILE=200000 in the unit, or ulimit -n';
  if (limit < FEW_FILES) return failure(text, remedy);
  return limit < MANY_FILES ? warning(text, remedy) : ok(text);
}

/** Of the disk that DATA_DIR is on, or will be. */
async function checkDisk({ DATA_DIR, MONGODB_URI }: Config): Promise<Verdict> {
  let folder = resolve(DATA_DIR);
  while (!existsSync(folder)) folder = dirname(folder);
  const { type, bavail, blocks, bsize } = await statfs(folder);
  if (NETWORK.has(type) && !MONGODB_URI)
    return failure('DATA_DIR is on a network file system, where LMDB does not work', 'choose a local disk');
  const text = `${Math.floor((bavail * bsize) / 2 ** 20)} MiB (${Math.floor((100 * bavail) / blocks)} %) are free for DATA_DIR`;
  return bavail < blocks * FREE_SHARE
    ? warning(text, 'free some space: a full disk refuses writes')
    : ok(text);
}

/**
 * The installation: Node, the engine, open files, disk.
 * @param servingPids the service's processes on this machine
 */
export function machineChecks(config: () => Config, servingPids: () => Promise<number[]>): Check[] {
  const { engines } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  return [
    { name: 'node', run: () => judgeNode(process.versions.node, engines.node) },
    { name: 'engine', run: () => checkEngine(config) },
    { name: 'open files', run: async () => checkFiles(await servingPids()) },
    { name: 'disk', run: () => checkDisk(config()) },
  ];
}
