import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { callDaemon } from './pm2-call.js';
import { isRunning } from './pm2-home.js';

/** pm2's program. It is called, never imported: its licence, AGPL, is not the project's. */
const PROGRAM = join(projectRoot(), 'node_modules', 'pm2', 'bin', 'pm2');

/** Time between two looks at a process that is being replaced, ms. */
const LOOK_MS = 1_000;

/** Statuses of a process that has ended without being stopped. */
const FAILED = ['waiting restart', 'errored', 'stopped'];

const UNDER_WAY = 'Another reload is under way, or one that failed is not over: try again in a minute';

/** A process of the cluster. */
export interface ClusterProcess {
  id: number;
  name: string;
  /** pm2's term: online (since it reported that it is ready), launching, stopping, `waiting restart`, errored … */
  status: string;
  /** How often it was replaced, or has ended by itself. */
  restarts: number;
  /** The environment it was started with. */
  env: Record<string, string>;
  /** Its number among those of its name, from 0; a restarted process keeps it. */
  instance: number;
  pid: number;
  /** Percent of a core. */
  cpu: number;
  /** Resident memory, bytes. */
  memory: number;
  /** Epoch ms. */
  startedAt: number;
  /** How long pm2 waits when it stops the process, ms. */
  killTimeout: number;
}

/** A process as pm2's daemon describes it. */
interface Description {
  /** A text for the predecessor of a process that is being replaced. */
  pm_id: number | string;
  name: string;
  pid: number;
  monit: { cpu: number; memory: number };
  pm2_env: {
    status: string;
    restart_time: number;
    pm_uptime: number;
    kill_timeout: number;
    NODE_APP_INSTANCE: number;
    env: Record<string, string>;
  };
}

/** pm2 replaces a process already, or still waits for one that did not start. */
export class ReloadUnderWay extends Error {}

/** The pm2 daemon of one home. */
export class Pm2 {
  readonly #home: string;
  readonly #program: string;

  /** @throws Error naming the remedy where pm2 is not installed: it is an optional dependency */
  constructor(home: string, program = PROGRAM) {
    if (!existsSync(program)) {
      throw new Error(
        'pm2, which runs the processes, is not installed: npm install --include=optional, or do without it (docs/operations.md, "Without pm2")',
      );
    }
    this.#home = home;
    this.#program = program;
  }

  /**
   * Runs pm2's program, which starts the daemon if it does not run.
   * @returns what it prints
   * @throws Error with the line that names the failure
   */
  async #run(args: string[], signal?: AbortSignal): Promise<string> {
    const env = {
      ...process.env,
      PM2_HOME: this.#home,
      PM2_DISABLE_VERSION_CHECK: 'true',
      FORCE_COLOR: '0',
    };
    const child = spawn(process.execPath, [this.#program, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    signal?.addEventListener('abort', () => child.kill());
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    if (status === 0 || signal?.aborted) return stdout;
    const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.includes('[ERROR]'));
    throw new Error(
      `pm2: ${
        lines
          .join(' ')
          .replaceAll(/\[PM2\]|\[ERROR\]/g, '')
          .trim() || `status ${status}`
      }`,
    );
  }

  /** All processes; none where the daemon does not run. */
  async list(): Promise<ClusterProcess[]> {
    if (!(await isRunning(this.#home))) return [];
    return (await this.#describe()).flatMap(({ pm_id, name, pid, monit, pm2_env }) => {
      if (typeof pm_id !== 'number') return [];
      const {
        status,
        restart_time: restarts,
        pm_uptime: startedAt,
        kill_timeout: killTimeout,
        NODE_APP_INSTANCE: instance,
        env,
      } = pm2_env;
      return [{ id: pm_id, name, status, restarts, env, instance, pid, ...monit, startedAt, killTimeout }];
    });
  }

  async #describe(): Promise<Description[]> {
    return (await callDaemon(this.#home, 'getMonitorData', {})) as Description[];
  }

  /**
   * Keeps pm2 from starting a process again that has ended: it would do so beside the new one, and neither list nor ever
   * stop that. A process that is being started is waited for: pm2 starts one again that is stopped before it is ready.
   * @throws ReloadUnderWay while its predecessor still runs, which then is all that serves
   * @returns the process
   */
  async #keepDown(id: number): Promise<Description | undefined> {
    for (;;) {
      const all = await this.#describe();
      if (all.some(({ pm_id }) => pm_id === `_old_${id}`)) throw new ReloadUnderWay(UNDER_WAY);
      const found = all.find(({ pm_id }) => pm_id === id);
      const status = found?.pm2_env.status;
      if (status === 'waiting restart') await callDaemon(this.#home, 'stopProcessId', { id });
      else if (status === 'launching' || status === 'stopping') await sleep(LOOK_MS);
      else return found;
    }
  }

  /** Starts one app of the ecosystem file. @returns whether all its processes got ready in time (ms) */
  async start(file: string, app: string, ms: number): Promise<boolean> {
    // Returns when each is ready, has ended or has had `listen_timeout`.
    await this.#run(['start', file, '--only', app], AbortSignal.timeout(ms));
    const mine = (await this.list()).filter(({ name }) => name === app);
    return mine.length > 0 && mine.every(({ status, restarts }) => status === 'online' && restarts === 0);
  }

  /**
   * Adds a process to those of a name, with the next free number and the environment of the others.
   * @returns it, and whether it got ready in time (ms)
   */
  async add(name: string, ms: number): Promise<{ added: ClusterProcess; isReady: boolean }> {
    const before = await this.list();
    const isNew = (id: number) => before.every((one) => one.id !== id);
    const count = before.filter((one) => one.name === name).length;
    // Returns when it is ready, has ended or has had `listen_timeout`.
    await this.#run(['scale', name, String(count + 1)], AbortSignal.timeout(ms));
    const added = (await this.list()).find(({ id }) => isNew(id));
    if (!added) throw new Error(`pm2 has not added a process to ${name}`);
    return { added, isReady: added.status === 'online' && added.restarts === 0 };
  }

  /**
   * Replaces a process; the new one gets an environment over that of the old one.
   * @param killTimeout how long pm2 waits when it stops the process, ms. Never lowered: the old process stops within it, too.
   * @throws ReloadUnderWay
   * @returns whether it got ready; pm2 itself considers one that did not as replaced, and keeps restarting it
   */
  async reload(id: number, killTimeout: number, over: NodeJS.ProcessEnv = process.env): Promise<boolean> {
    const find = async () => (await this.list()).find((one) => one.id === id);
    const { pid: oldPid, pm2_env } = (await this.#keepDown(id)) ?? {};
    const { restart_time: restarts = 0, kill_timeout: present = 0 } = pm2_env ?? {};
    // pm2's name for settings of its own; it keeps them out of the process's environment.
    const current_conf = { kill_timeout: Math.max(present, killTimeout) };
    const reload = { id, env: { ...over, PM2_HOME: this.#home, current_conf } };
    const ended = new AbortController();
    const reloaded = callDaemon(this.#home, 'reloadProcessId', reload, ended.signal).catch((error: Error) => {
      if (!/reload (already )?in progress/i.test(error.message)) throw error;
      throw new ReloadUnderWay(UNDER_WAY);
    });
    /** pm2 itself waits for a process that has ended until `listen_timeout`. */
    const failed = (async () => {
      while (!ended.signal.aborted) {
        await sleep(LOOK_MS);
        const now = ended.signal.aborted ? undefined : await find();
        if (now === undefined) continue;
        // Until the new process has a pid, it is the old one that has ended, also where pm2 counts it as replaced.
        const isNew = now.restarts > restarts && now.pid !== 0 && now.pid !== oldPid;
        if (now.restarts > restarts + 1 || (isNew && FAILED.includes(now.status))) return;
      }
    })();
    await Promise.race([reloaded, failed]).finally(() => ended.abort());
    const now = await find();
    // pm2 does not count the replacement of a process that had already ended.
    return now?.status === 'online' && now.pid !== oldPid && now.restarts <= restarts + 1;
  }

  /** Stops processes, all at the same time, and forgets them. */
  async delete(isMeant: (one: ClusterProcess) => boolean): Promise<void> {
    // pm2 restarts a process that is deleted before it is ready.
    for (;;) {
      const all = await this.list();
      const meant = all.filter(isMeant);
      if (meant.length === 0) return;
      const isWhole = (kind: string) => all.every((one) => one.name !== kind || isMeant(one));
      // One call takes what it is given one after another, but the processes of a name together.
      const targets = new Set(meant.map(({ id, name }) => (isWhole(name) ? name : String(id))));
      await Promise.all([...targets].map((target) => this.#run(['delete', target])));
    }
  }

  /** Ends the daemon, once no process is left: it writes the environment of those, secrets too, to a file. */
  async end(): Promise<void> {
    await this.#run(['kill']);
  }
}
