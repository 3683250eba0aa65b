import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ProcessDescription } from 'pm2';
import type { Places } from './places.js';

/** One process as pm2 tells of it. */
export interface Managed {
  id: number;
  name: string;
  pid: number;
  /** pm2's word: online, launching, stopping, `waiting restart`, errored … */
  state: string;
  restarts: number;
  /** In bytes. */
  memory: number;
  /** Epoch ms of its start. */
  since: number;
  /** The environment it was started with. */
  env: Record<string, string>;
}

/** What the daemon tells while it happens. */
export interface ManagerEvents {
  /** The process has said that it is ready. */
  ready(id: number): void;
  /** The process has ended with another status than 0. */
  failure(id: number): void;
}

/** pm2 of one home, with promises. */
export interface Manager {
  list(): Promise<Managed[]>;
  /** Starts one app of the ecosystem file; resolves when its processes are ready, or have given up. */
  start(file: string, app: string): Promise<void>;
  /** Replaces one process, with the environment of this command over the one it had. */
  reload(id: number): Promise<void>;
  /** Stops a process and takes it off the list. */
  remove(id: number): Promise<void>;
  /** Disconnects and ends the daemon, with what it still runs. */
  end(): Promise<void>;
  disconnect(): Promise<void>;
}

/** Whether pm2's daemon of this home answers: a pid file alone may be older than the last boot. */
export async function isRunning({ socket: path }: Pick<Places, 'socket'>): Promise<boolean> {
  if (!existsSync(path)) return false;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** pm2 keeps a process's own environment apart from its settings; its types know neither well. */
type Described = ProcessDescription & { pm2_env?: { env?: Record<string, string>; restart_time?: number } };

function managed({ pm_id, name, pid, pm2_env, monit }: Described): Managed {
  return {
    id: Number(pm_id),
    name: name ?? '',
    pid: pid ?? 0,
    state: pm2_env?.status ?? 'unknown',
    restarts: pm2_env?.restart_time ?? 0,
    memory: monit?.memory ?? 0,
    since: pm2_env?.pm_uptime ?? 0,
    env: pm2_env?.env ?? {},
  };
}

/** pm2 reports with errors, texts, and lists of both. */
function asError(fault: unknown): Error {
  if (fault instanceof Error) return fault;
  if (Array.isArray(fault)) return asError(fault[0]);
  return new Error(`pm2: ${String((fault as { msg?: string })?.msg ?? fault)}`);
}

function promised<T>(run: (done: (fault: unknown, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    run((fault, result) => {
      const failed = Array.isArray(fault) ? fault.length > 0 : Boolean(fault);
      if (failed) reject(asError(fault));
      else resolve(result);
    });
  });
}

interface Bus {
  on(event: string, listener: (packet: BusPacket) => void): void;
}

interface BusPacket {
  raw?: unknown;
  event?: string;
  process: { pm_id: number | string; exit_code?: number };
}

/**
 * Connects to pm2's daemon of this home; starts it where it does not run.
 * @param events what to do while things happen; without it nobody listens
 */
export async function connectManager(places: Places, events?: ManagerEvents): Promise<Manager> {
  // pm2 reads it once, when it is loaded. What it reports of the network is nobody's business here.
  process.env.PM2_HOME = places.home;
  process.env.PM2_DISABLE_VERSION_CHECK = 'true';
  const { default: pm2 } = await import('pm2');
  await promised<void>((done) => pm2.connect(done as (fault: Error) => void));

  if (events) {
    const bus = await promised<Bus>((done) => pm2.launchBus(done));
    bus.on('process:msg', ({ raw, process: { pm_id } }) => {
      if (raw === 'ready') events.ready(Number(pm_id));
    });
    bus.on('process:event', ({ event, process: { pm_id, exit_code } }) => {
      // One that was asked to go exits with 0; one that is being replaced has a text for an id by then.
      if (event === 'exit' && exit_code && typeof pm_id === 'number') events.failure(pm_id);
    });
  }

  async function disconnect(): Promise<void> {
    // Its types know no callback, and what it calls back with is the outcome of each connection.
    const end = pm2.disconnect as unknown as (done: () => void) => void;
    await new Promise<void>((resolve) => end.call(pm2, resolve));
  }

  return {
    async list() {
      const found = await promised<ProcessDescription[]>((done) => pm2.list(done));
      // A process that is being replaced has a text for an id, and no command takes it.
      return found.map(managed).filter(({ id }) => !Number.isNaN(id));
    },
    async start(file, app) {
      // `only` is missing in the types of this form.
      const start = pm2.start as unknown as (
        file: string,
        options: { only: string },
        done: (fault: unknown, result: unknown) => void,
      ) => void;
      await promised((done) => start.call(pm2, file, { only: app }, done));
    },
    async reload(id) {
      try {
        await promised((done) => pm2.reload(id, { updateEnv: true }, done));
      } catch (error) {
        if (!/^Reload (already )?in progress/.test((error as Error).message)) throw error;
        throw new Error('Another reload is under way, or one that failed is not over: try again in a minute');
      }
    },
    async remove(id) {
      await promised((done) => pm2.delete(id, done));
    },
    async end() {
      // Not pm2's own killDaemon: the connections it loses are tried again for ever, and this command with them.
      const pid = Number(readFileSync(join(places.home, 'pm2.pid'), 'utf8'));
      await disconnect();
      process.kill(pid, 'SIGTERM');
    },
    disconnect,
  };
}
