/** All changes to ioredis clients. Reasons, figures and exits: docs/decisions/patched-internals.md. */
import { type Cluster, Command, type Redis } from 'ioredis';
import { metrics, secondsSince } from '../observe/metrics.js';
import { step } from '../observe/tracing.js';
import { afterRunning } from './running-time.js';
import { RejectedMessage } from './sealed-messages.js';

/** Largest message accepted, bytes: several times our longest. */
export const MAX_MESSAGE = 1024 * 1024;

type Client = Redis | Cluster;
type Send = (...args: unknown[]) => Promise<unknown>;

/**
 * `publish` and `spublish` resolve to 0 receivers instead of rejecting, and count the failure: the Socket.IO
 * adapter does not await them, and a lost publish costs time, not data.
 */
export function ignorePublishFailures(client: Client): void {
  const methods = client as unknown as Record<'publish' | 'spublish', Send>;
  for (const name of ['publish', 'spublish'] as const) {
    const send = methods[name].bind(client);
    methods[name] = (...args) =>
      send(...args).catch(() => {
        metrics.redisPublishFailures.inc();
        return 0;
      });
  }
}

interface TimedCommand {
  isSettled: boolean;
  /** Cleared by ioredis once the command is settled. */
  _commandTimeoutTimer: NodeJS.Timeout | undefined;
  reject(error: Error): void;
  setTimeout(ms: number): void;
}

/** Time-outs of commands count the time in which the process runs. */
(Command.prototype as unknown as TimedCommand).setTimeout = function (ms) {
  const awaited = {
    isOver: () => this.isSettled,
    keep: (timer: NodeJS.Timeout) => {
      this._commandTimeoutTimer = timer;
    },
  };
  afterRunning(ms, awaited, () => this.reject(new Error('Command timed out')));
};

/** Measures each command from its sending on; one that waits for the connection is sent, and measured, later. */
export function measureCommands(client: Client): void {
  const methods = client as unknown as {
    sendCommand(command: { name: string }, ...rest: unknown[]): Promise<unknown>;
  };
  const send = methods.sendCommand.bind(client);
  methods.sendCommand = (command, ...rest) => {
    const answer = step('client', `redis ${command.name}`, { 'db.system.name': 'redis' }, () =>
      send(command, ...rest),
    );
    if (client.status !== 'ready') return answer;
    const sentAt = performance.now();
    const end = (outcome: string) =>
      metrics.redisCommands.observe({ command: command.name, outcome }, secondsSince(sentAt));
    answer.then(
      () => end('ok'),
      () => end('failed'),
    );
    return answer;
  };
}

/** ioredis emits each message as text and as a buffer. */
const MESSAGE_EVENTS: ReadonlySet<unknown> = new Set(
  ['message', 'pmessage', 'smessage'].flatMap((name) => [name, `${name}Buffer`]),
);

/**
 * A listener that throws or rejects loses that message only, and messages over MAX_MESSAGE bytes are dropped.
 * Both are counted by reason. `emit` is replaced instead of `on`, so that `off` recognises its listeners.
 */
export function guardListeners(client: Client, onFault: (fault: unknown) => void): void {
  function drop(error: unknown): void {
    metrics.redisMessagesDropped.inc({
      reason: error instanceof RejectedMessage ? error.reason : 'malformed',
    });
    onFault(error);
  }

  function deliver(event: string, args: unknown[]): boolean {
    // Not args.at(-1): a cluster's messages have an additional undefined argument.
    const payload = args[event.startsWith('p') ? 2 : 1] as string | Buffer;
    if (payload.length > MAX_MESSAGE) {
      // Counted once, not again when the same message is emitted as text.
      if (Buffer.isBuffer(payload))
        drop(new RejectedMessage('too-large', `a message of ${payload.length} bytes`));
      return true;
    }
    const listeners = client.rawListeners(event) as ((...args: unknown[]) => unknown)[];
    for (const listener of listeners) {
      try {
        const result = listener.apply(client, args);
        if (result instanceof Promise) result.catch(drop);
      } catch (error) {
        drop(error);
      }
    }
    return listeners.length > 0;
  }

  const emit = client.emit.bind(client);
  client.emit = ((event: string | symbol, ...args: unknown[]) =>
    MESSAGE_EVENTS.has(event) ? deliver(event as string, args) : emit(event, ...args)) as typeof client.emit;
}

const SUBSCRIBE = ['subscribe', 'psubscribe', 'ssubscribe'] as const;

/**
 * Subscribes on every connect to all channels requested so far. ioredis itself restores only what was in
 * effect when the connection was lost: a subscription that the server refused once (an ACL, a second loss)
 * would be gone for good. Also handles the rejections of subscriptions that nobody awaits.
 */
export function keepSubscriptions(client: Client, onFault: (fault: unknown) => void): void {
  const methods = client as unknown as Record<string, Send>;
  for (const name of SUBSCRIBE) {
    const wanted = new Set<string>();
    const wrap = (method: string, note: (channel: string) => void) => {
      const send = (methods[method] as Send).bind(client);
      methods[method] = (...args) => {
        // Channels are passed singly or as lists.
        for (const channel of args.flat()) note(String(channel));
        const sent = send(...args);
        sent.catch(onFault);
        return sent;
      };
    };
    wrap(name, (channel) => wanted.add(channel));
    wrap(name.replace('sub', 'unsub'), (channel) => wanted.delete(channel));
    client.on('ready', () => {
      // Shard channels one by one: in a cluster they belong to different slots.
      if (name === 'ssubscribe') for (const channel of wanted) void methods[name]?.(channel);
      else if (wanted.size > 0) void methods[name]?.(...wanted);
    });
  }
}
