/** Faults at chosen calls that a process makes to the database or to Redis. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { Command, Redis } from 'ioredis';
import { MongoNetworkTimeoutError } from 'mongodb';
import mongoose from 'mongoose';
import { nextTurn } from './eventually.js';

/**
 * What happens to a call.
 *
 * - `fails before`: it is not carried out, and fails
 * - `fails after`: it is carried out, but its answer is lost
 * - `times out`: it fails, and is carried out later (`carryOutLate`), as by a server that was frozen
 * - `is doubled`: it is carried out twice, as if a client had repeated it; the second answer counts
 * - `is delayed`: another process does something first (`meanwhile`)
 * - `is the last`: the process ends before it hears the answer; no later call reaches the database
 */
export const FAULTS = [
  'fails before',
  'fails after',
  'times out',
  'is doubled',
  'is delayed',
  'is the last',
] as const;
export type Fault = (typeof FAULTS)[number];

/** A fault, and the number of the call that it strikes, from 0. */
export interface Strike {
  at: number;
  fault: Fault;
}

/** A call as made by a process. */
export interface Call {
  /** Its command and, of the database, its collection: `insert articles`. */
  name: string;
  isWrite: boolean;
}

/** How a client makes a call. */
interface Making {
  run(): Promise<unknown>;
  /** Makes it again, and later than its caller waits. */
  runAgain(): Promise<unknown>;
  runLate(): Promise<unknown>;
  /** What a call without an answer fails with. */
  failure(): Error;
}

/** Commands of the database that change nothing. */
const READS = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'killCursors', 'ping']);

/** What the driver does by itself. */
const OWN = new Set(['hello', 'ismaster', 'isMaster', 'endSessions']);

const current = new AsyncLocalStorage<FaultyProcess>();

/** What one process does, as told apart from others in the same Node process by its asynchronous context. */
export class FaultyProcess {
  /** The calls made so far, in order. */
  readonly calls: Call[] = [];
  /** How many of the faults have struck. */
  struck = 0;
  isDead = false;
  #running = 0;
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #strikes: readonly Strike[];
  readonly #meanwhile: () => Promise<unknown>;

  /**
   * @param meanwhile what another process does before a delayed call
   */
  constructor(strikes: readonly Strike[] = [], meanwhile: () => Promise<unknown> = async () => {}) {
    this.#strikes = strikes;
    this.#meanwhile = meanwhile;
  }

  /** Runs work as this process, with all that it leaves running. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return current.run(this, work);
  }

  /** Resolves when the process makes no calls any more. */
  async quiet(): Promise<void> {
    for (let turns = 0; turns < 6; turns = this.#running > 0 ? 0 : turns + 1) await nextTurn();
  }

  /** Carries out what timed out. What it is answered, nobody hears. */
  async carryOutLate(): Promise<void> {
    for (const run of this.#late.splice(0)) await run().catch(() => {});
  }

  /** Ends the process, if it has not ended. */
  kill(): void {
    this.isDead = true;
  }

  async make(call: Call, making: Making): Promise<unknown> {
    if (this.isDead) throw making.failure();
    const number = this.calls.push(call) - 1;
    const strike = this.#strikes.find(({ at }) => at === number);
    this.#running += 1;
    try {
      return await (strike ? this.#strike(strike.fault, making) : making.run());
    } finally {
      this.#running -= 1;
    }
  }

  async #strike(fault: Fault, { run, runAgain, runLate, failure }: Making): Promise<unknown> {
    this.struck += 1;
    switch (fault) {
      case 'is the last':
        // Whatever it is answered, the process does not hear it.
        await run().catch(() => {});
        this.kill();
        throw failure();
      case 'fails after':
        await run().catch(() => {});
        throw failure();
      case 'times out':
        this.#late.push(runLate);
        throw failure();
      case 'is doubled':
        await run();
        return runAgain();
      case 'is delayed':
        await current.exit(this.#meanwhile);
        return run();
      default:
        throw failure();
    }
  }
}

interface DriverConnection {
  command(ns: { db: string }, command: object, ...rest: unknown[]): Promise<unknown>;
}

function injectIntoDriver(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  const { Connection } = require('mongodb/lib/cmap/connection.js') as {
    Connection: { prototype: DriverConnection };
  };
  const { command: send } = Connection.prototype;
  Connection.prototype.command = function (ns, command, ...rest) {
    const process = current.getStore();
    const [[name, collection] = ['']] = Object.entries(command);
    if (!process || OWN.has(name)) return send.call(this, ns, command, ...rest);
    return process.make(
      { name: `${name} ${collection}`, isWrite: !READS.has(name) },
      {
        run: () => send.call(this, ns, command, ...rest),
        runAgain: () => send.call(this, ns, command, ...rest),
        runLate() {
          // Another call may be using this connection by then.
          const { lsid: _, ...sent } = command as { lsid?: unknown };
          return current.exit(() => mongoose.connection.getClient().db(ns.db).command(sent));
        },
        failure: () => new MongoNetworkTimeoutError('the answer did not come'),
      },
    );
  };
}

function injectIntoRedis(): void {
  const { sendCommand: send } = Redis.prototype;
  Redis.prototype.sendCommand = function (command, stream) {
    const process = current.getStore();
    if (!process) return send.call(this, command, stream);
    // A command object can be sent once.
    const again = async () =>
      send.call(this, new Command(command.name, command.args, { replyEncoding: 'utf8' }), stream);
    return process.make(
      { name: command.name, isWrite: true },
      {
        run: async () => send.call(this, command, stream),
        runAgain: again,
        runLate: again,
        failure: () => new Error('Command timed out'),
      },
    );
  };
}

// At once: a client of Redis keeps the method that it finds when it is made. Calls of no FaultyProcess are made as ever.
injectIntoDriver();
injectIntoRedis();
