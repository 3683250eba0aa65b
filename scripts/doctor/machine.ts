import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { type Check, failure, ok, Skipped, type Verdict, warning } from './check.js';
import { below, request } from './request.js';

/** Fewer open files than this are a fault, and fewer than the second number a few thousand members will meet. */
const [FEW_FILES, MANY_FILES] = [1_024, 16_384];

/** Share of its files from which on a process has too many open, as for the alert FilesRunningOut. */
const USED_SHARE = 0.8;

/** Share of a disk that should stay free. (docs/operations.md, "Dashboards and alerts") */
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

/** What a trial of uWebSockets.js found. */
export interface Trial {
  /** Why it does not load. */
  fault?: string;
  /** How it answers a request whose first line arrives in pieces. */
  statusInPieces?: number;
}

/** Tries uWebSockets.js in a process of its own, which a bad binary may end. */
async function tryUws(): Promise<Trial> {
  const program = join(import.meta.dirname, 'engine-probe.js');
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: projectRoot() });
    return { statusInPieces: Number(stdout) };
  } catch (error) {
    const { stderr = '', signal } = error as { stderr?: string; signal?: string };
    const reason = /^(?:\w*Error.*|.*version `.*)$/m.exec(stderr)?.[0];
    return { fault: reason ?? (signal ? `ends by ${signal}` : 'fails') };
  }
}

const NEWER = 'a newer package (docs/operations.md, "What sockets run on")';

/**
 * Judges what sockets run on.
 * @param trial of uWebSockets.js on this machine
 * @param running the engine of the gateway that answers, where it can be read
 */
export function judgeEngine(
  setting: Config['GATEWAY_ENGINE'],
  { fault, statusInPieces = 200 }: Trial,
  running: string | undefined,
): Verdict {
  const expected = setting === 'ws' || fault ? 'ws' : 'uws';
  const lacks = `uWebSockets.js does not load: ${fault}`;
  const remedy = `Node 20 or 22 on glibc, or ${NEWER}`;
  if (setting === 'uws' && fault) return failure(lacks, remedy);
  if (running !== undefined && running !== expected)
    return warning(
      `the gateway runs on ${running}; one that starts here would run on ${expected}`,
      'if the setting or Node was changed, restart the gateways; else run the doctor with theirs',
    );
  const serves = running ? ', and serves' : '';
  if (setting === 'ws') return ok(`ws, as GATEWAY_ENGINE says${serves}`);
  if (fault) return warning(`${lacks}; sockets run on ws`, remedy);
  if (statusInPieces !== 200)
    return warning(
      `uWebSockets.js loads${serves}, but is old: it answers ${statusInPieces} to a request line that arrives in pieces`,
      `GATEWAY_ENGINE=ws if clients or the proxy send it so, or ${NEWER}`,
    );
  return ok(`uWebSockets.js loads${serves}`);
}

/** What a gateway runs on, by its metrics; undefined if they cannot be read. */
async function runningEngine(config: Config, base: string): Promise<string | undefined> {
  const { METRICS_TOKEN: token } = config;
  const { body } = await request(below(base, '/metrics'), {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
  });
  return /^adoption_build_info\{.*?\bengine="(\w+)"/m.exec(body)?.[1];
}

/** @param gatewayBase address of the gateway on this machine; rejects if there is none */
async function checkEngine(config: Config, gatewayBase: () => Promise<string>): Promise<Verdict> {
  const { GATEWAY_ENGINE: setting } = config;
  const running = gatewayBase()
    .then((base) => runningEngine(config, base))
    .catch(() => undefined);
  return judgeEngine(setting, setting === 'ws' ? {} : await tryUws(), await running);
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

/** How many files a process has open; 0 where the system or its rights do not let us know. */
function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** @param pids of the service's processes; without any, of this process */
export async function checkFiles(pids: number[]): Promise<Verdict> {
  const measured = pids.map(fileLimit).filter((limit) => limit !== undefined);
  const limit = measured.length > 0 ? Math.min(...measured) : fileLimit('self');
  if (limit === undefined) throw new Skipped('this system does not tell how many files a process may open');
  const whose = measured.length > 0 ? 'a process of the service' : 'a process started from here';
  const text = `${whose} may open ${limit} files; each socket and stream takes one`;
  const remedy = 'LimitNOFILE=200000 in the unit, or ulimit -n';
  const full = pids.find((pid) => openFiles(pid) > USED_SHARE * (fileLimit(pid) ?? Number.POSITIVE_INFINITY));
  if (full !== undefined)
    return failure(
      `process ${full} has ${openFiles(full)} of ${fileLimit(full)} files open: it closes new connections when 64 are left`,
      `${remedy}; more processes`,
    );
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
 * @param service its processes and gateway on this machine
 */
export function machineChecks(
  config: () => Config,
  service: { servingPids(): Promise<number[]>; gatewayBase(): Promise<string> },
): Check[] {
  const { engines } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  return [
    { name: 'node', run: () => judgeNode(process.versions.node, engines.node) },
    { name: 'engine', run: async () => checkEngine(config(), service.gatewayBase) },
    { name: 'open files', run: async () => checkFiles(await service.servingPids()) },
    { name: 'disk', run: () => checkDisk(config()) },
  ];
}
