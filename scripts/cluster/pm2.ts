import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessDescription } from 'pm2';
import { within } from './pm2-home.js';

/** A process of the cluster. */
export interface ClusterProcess {
  id: number;
  name: string;
  /** pm2's term: online, launching, stopping, `waiting restart`, errored … */
  status: string;
  /** The environment it was started with. */
  env: Record<string, string>;
  /** Its number among those of its name, from 0; a restarted process keeps it. */
  instance: number;
  pid: number;
  /** Percent of a core. */
  cpu: number;
  /** Resident memory, bytes. */
  memory: number;
  /** Since the cluster was started, reloads included. */
  restarts: number;
  /** Epoch ms. */
  startedAt: number;
}

/** pm2's types lack the environment, and the message bus. */
type Description = ProcessDescription & {
  pm2_env?: { env?: Record<string, string>; NODE_APP_INSTANCE?: number };
};
interface Packet {
  raw?: unknown;
  event?: string;
  process: { pm_id: number | string; exit_code?: number };
}
interface Bus {
  on(event: string, listener: (packet: Packet) => void): void;
}

/** Calls pm2, which reports failures as errors, as texts, and as lists of both. */
function call<T>(run: (done: (failure: unknown, result: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    run((failure, result) => {
      const [first] = [failure].flat();
      if (!first) resolve(result);
      else
        reject(
          first instanceof Error ? first : new Error(`pm2: ${(first as { msg?: string }).msg ?? first}`),
        );
    });
  });
}

/** The pm2 daemon of one home. */
export class Pm2 {
  readonly #home: string;
  readonly #api: typeof import('pm2');
  /** What each process reported last: `ready`, or `failed` if it ended with a status other than 0. */
  readonly #reports = new Map<number, 'ready' | 'failed'>();
  readonly #failures = new EventEmitter();

  private constructor(home: string, api: typeof import('pm2')) {
    this.#home = home;
    this.#api = api;
  }

  /** Connects to the daemon, and starts it if it does not run. */
  static async connect(home: string): Promise<Pm2> {
    // pm2 reads both when it is loaded.
    process.env.PM2_HOME = home;
    process.env.PM2_DISABLE_VERSION_CHECK = 'true';
    const { default: api } = await import('pm2');
    const pm2 = new Pm2(home, api);
    await call<void>((done) => api.connect(done));
    const bus = await call<Bus>((done) => api.launchBus(done));
    bus.on('process:msg', ({ raw, process: { pm_id } }) => {
      // The embedded database reports by an object, also without pm2.
      if (raw === 'ready' || (raw as { type?: string } | null)?.type === 'ready')
        pm2.#reports.set(Number(pm_id), 'ready');
    });
    bus.on('process:event', ({ event, process: { pm_id, exit_code } }) => {
      // The id of a process that is being replaced is a string.
      if (event !== 'exit' || !exit_code || typeof pm_id !== 'number') return;
      pm2.#reports.set(pm_id, 'failed');
      pm2.#failures.emit(String(pm_id));
    });
    return pm2;
  }

  async list(): Promise<ClusterProcess[]> {
    const all = await call<Description[]>((done) => this.#api.list(done));
    return all
      .filter(({ pm_id }) => typeof pm_id === 'number')
      .map(({ pm_id, name, pid, monit, pm2_env }) => ({
        id: pm_id as number,
        name: name ?? '',
        status: pm2_env?.status ?? 'unknown',
        env: pm2_env?.env ?? {},
        instance: pm2_env?.NODE_APP_INSTANCE ?? 0,
        pid: pid ?? 0,
        cpu: monit?.cpu ?? 0,
        memory: monit?.memory ?? 0,
        restarts: pm2_env?.restart_time ?? 0,
        startedAt: pm2_env?.pm_uptime ?? 0,
      }));
  }

  /** Starts one app of the ecosystem file. @returns whether all its processes got ready in time (ms) */
  async start(file: string, app: string, ms: number): Promise<boolean> {
    // The types of this form lack `only`.
    await call((done) => this.#api.start(file, { only: app } as object, done));
    const mine = (await this.list()).filter(({ name }) => name === app);
    await within(ms, () => mine.every(({ id }) => this.#reports.has(id)));
    return mine.length > 0 && mine.every(({ id }) => this.#reports.get(id) === 'ready');
  }

  /**
   * Adds a process to those of a name, with the next free number and the environment of the others.
   * @returns it, and whether it got ready in time (ms)
   */
  async add(name: string, ms: number): Promise<{ added: ClusterProcess; isReady: boolean }> {
    const before = await this.list();
    const isNew = (id: number) => before.every((one) => one.id !== id);
    const count = before.filter((one) => one.name === name).length;
    const isReported = () => within(ms, () => [...this.#reports.keys()].some(isNew));
    // Its types lack this call, which returns late if the process ends instead of getting ready.
    const { scale } = this.#api as unknown as Record<'scale', (...args: unknown[]) => void>;
    const scaled = call((done) => scale.call(this.#api, name, count + 1, done));
    await Promise.race([scaled.then(isReported), isReported()]);
    const added = (await this.list()).find(({ id }) => isNew(id));
    if (!added) throw new Error(`pm2 has not added a process to ${name}`);
    return { added, isReady: this.#reports.get(added.id) === 'ready' };
  }

  /**
   * Replaces a process; the new one gets this command's environment over that of the old one.
   * @returns whether it got ready; pm2 itself considers one that did not as replaced, and keeps restarting it
   */
  async reload(id: number): Promise<boolean> {
    this.#reports.delete(id);
    const reloaded = call((done) => this.#api.reload(id, { updateEnv: true }, done)).catch((error: Error) => {
      if (!/^Reload (already )?in progress/.test(error.message)) throw error;
      throw new Error('Another reload is under way, or one that failed is not over: try again in a minute');
    });
    await Promise.race([reloaded, once(this.#failures, String(id))]);
    return this.#reports.get(id) === 'ready';
  }

  /** Stops processes and forgets them. */
  async delete(isMeant: (one: ClusterProcess) => boolean): Promise<void> {
    // pm2 restarts a process that is deleted before it is ready.
    for (;;) {
      const found = (await this.list()).filter(isMeant);
      if (found.length === 0) return;
      await Promise.all(found.map(({ id }) => call((done) => this.#api.delete(id, done))));
    }
  }

  /** Stops what still runs, then the daemon. */
  async end(): Promise<void> {
    // Not pm2.killDaemon: it would try to reconnect to the daemon indefinitely.
    const pid = Number(readFileSync(join(this.#home, 'pm2.pid'), 'utf8'));
    await this.disconnect();
    process.kill(pid, 'SIGTERM');
  }

  async disconnect(): Promise<void> {
    // Its types lack the callback, whose arguments are the outcome of each connection.
    const disconnect = this.#api.disconnect as (done: () => void) => void;
    await new Promise<void>((resolve) => disconnect.call(this.#api, resolve));
  }
}
