import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from '../clients/device.js';
import { recordCounts } from '../counts.js';
import type { HistoryFile } from '../history-file.js';
import type { OwnInstallation, ServiceProcess } from '../own-installation.js';
import type { Door } from '../served.js';
import { fillDisk } from './fill-disk.js';
import type { FaultKind } from './kinds.js';
import { evict, flush } from './lose-keys.js';

/** What faults strike, and by which random numbers. */
export interface Struck {
  history: HistoryFile;
  own: OwnInstallation;
  devices: Device[];
  below: (limit: number) => number;
  /** Whether this kind of fault strikes for the first time. Redis is killed then: of one that is only frozen, nothing is lost. */
  isFirst: boolean;
  /** Whether no faults strike but those by which Redis loses keys. */
  isCalm: boolean;
  /** Longest time of a fault, ms; it lasts a third of it at least. */
  longestMs: number;
  /** Time, ms, for which a process is frozen once in a while: longer than the lease of presence, if the run allows it. */
  freezeMs: number;
}

type Strike = (struck: Struck) => Promise<void>;

/** Clocks are wrong by up to this time, ms. */
const CLOCK_MS = 3_600_000;

/** Clients that stop reading at the same time. */
const SLOW_READERS = 3;

/** Time, ms, after a loss of keys without another: longer than the interval at which presence is renewed anyway. */
const AFTERMATH_MS = 8_000;

/**
 * Acknowledgements of messages for which Redis stays away, more than one burst to a room, so that processes miss some of these
 * messages; the longest wait for them, and the interval of looks, ms.
 */
const ACKNOWLEDGED = 20;
const ACKNOWLEDGED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 20;

const pick = <T>({ below }: Struck, list: readonly T[]): T => list[below(list.length)] as T;

/** A process that clients use just now: after restarts, a gateway may be without any for a while. */
function pickUsed(struck: Struck, services = struck.own.services): ServiceProcess {
  const connected = new Set(struck.devices.map(({ app }) => app?.door?.process));
  const used = services.filter(({ door, name }) => door === 'http' || connected.has(name));
  return pick(struck, used.length > 0 ? used : services);
}

/** Writes when a fault begins and ends; it ends after `work`. */
async function during(
  { history }: Struck,
  fault: FaultKind,
  target: string,
  work: () => Promise<void>,
): Promise<void> {
  history.write({ e: 'fault', fault, target, phase: 'begin' });
  await work();
  history.write({ e: 'fault', fault, target, phase: 'end' });
}

function last({ below, longestMs }: Struck): Promise<void> {
  return sleep(longestMs / 3 + below(Math.ceil((longestMs * 2) / 3)));
}

/** Lasts until messages were acknowledged meanwhile, too: while the database is away, there are none. */
async function lastUntilAcknowledged(struck: Struck): Promise<void> {
  const { history } = struck;
  const enough = history.counts.acknowledged + ACKNOWLEDGED;
  await last(struck);
  const deadline = performance.now() + ACKNOWLEDGED_WITHIN_MS;
  while (history.counts.acknowledged < enough && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
}

/** Ends a process of the service by a signal and starts it again. */
async function restart(
  struck: Struck,
  fault: FaultKind,
  { name, process }: ServiceProcess,
  signal: NodeJS.Signals,
  awayMs = 0,
): Promise<void> {
  await during(struck, fault, name, async () => {
    await process.kill(signal);
    await sleep(awayMs);
    await process.start();
  });
}

/** Ends a process of the service by SIGKILL, and starts it again. */
export async function kill(struck: Struck, service: ServiceProcess): Promise<void> {
  await recordCounts(struck.history, service);
  await restart(struck, 'kill', service, 'SIGKILL', struck.below(1_000));
}

async function stop(struck: Struck): Promise<void> {
  const service = pickUsed(struck);
  await recordCounts(struck.history, service);
  await restart(struck, 'stop', service, 'SIGTERM', struck.below(1_000));
}

async function freeze(struck: Struck): Promise<void> {
  const { name, process } = pickUsed(struck);
  const isLong = struck.below(2) === 0;
  await during(struck, 'freeze', name, async () => {
    process.signal('SIGSTOP');
    await (isLong ? sleep(struck.freezeMs) : last(struck));
    process.signal('SIGCONT');
    await process.ready();
  });
}

/** A process works with a wrong clock for a while. */
async function shiftClock(struck: Struck): Promise<void> {
  const service = pickUsed(struck);
  const { name, process } = service;
  const shift = struck.below(2 * CLOCK_MS) - CLOCK_MS;
  await recordCounts(struck.history, service);
  await during(struck, 'clock', name, async () => {
    await process.kill('SIGTERM');
    await process.start({ CLOCK_SHIFT_MS: String(shift) });
    await last(struck);
    await recordCounts(struck.history, service);
    await process.kill('SIGTERM');
    await process.start();
  });
}

/** All processes are restarted, those of each kind one after another, as in a deploy. */
async function reload(struck: Struck): Promise<void> {
  const reloadAll = async (kind: Door) => {
    for (const service of struck.own.services.filter(({ door }) => door === kind)) {
      await recordCounts(struck.history, service);
      await restart(struck, 'reload', service, 'SIGTERM');
    }
  };
  await Promise.all([reloadAll('http'), reloadAll('gateway')]);
}

async function restartDatabase(struck: Struck, fault: FaultKind, signal: NodeJS.Signals): Promise<void> {
  const { database } = struck.own;
  await during(struck, fault, 'database', async () => {
    await database.kill(signal);
    await last(struck);
    await database.start();
  });
}

async function disturbWrites(struck: Struck): Promise<void> {
  const { database } = struck.own;
  await during(struck, 'disk-full', 'database', () =>
    fillDisk(database, struck.below(2) === 0, () => last(struck)),
  );
}

/** Connections of a process, or of all of them, to Redis are cut, and sometimes refused for a while. */
async function cutRedis(struck: Struck): Promise<void> {
  const { services } = struck.own;
  const some = struck.below(2) === 0 ? services : [pickUsed(struck)];
  const isRefused = struck.below(2) === 0;
  const target = some.length > 1 ? 'all to redis' : `${some[0]?.name} to redis`;
  await during(struck, 'redis-cut', target, async () => {
    for (let cuts = 0; !isRefused && cuts < 5; cuts += 1) {
      await Promise.all(some.map(({ redis }) => redis.tell('cut')));
      await sleep(struck.below(400));
    }
    if (!isRefused) return;
    await Promise.all(some.map(({ redis }) => redis.tell('refuse')));
    await lastUntilAcknowledged(struck);
    await Promise.all(some.map(({ redis }) => redis.tell('restore')));
  });
}

/** Redis is frozen, or killed and started again without its data. */
async function stopRedis(struck: Struck): Promise<void> {
  const { redis } = struck.own;
  const isKilled = struck.below(2) === 0 || struck.isFirst;
  await during(struck, 'redis-stop', 'redis', async () => {
    if (isKilled) {
      await redis.kill('SIGKILL');
      await lastUntilAcknowledged(struck);
      await redis.start();
    } else {
      redis.signal('SIGSTOP');
      await last(struck);
      redis.signal('SIGCONT');
    }
  });
}

/** Redis loses keys and goes on. Without other faults nothing follows for a while: what is promised soon after it can be seen. */
async function loseKeys(struck: Struck, fault: 'flush' | 'evict'): Promise<void> {
  const { below, isCalm, own } = struck;
  const lasting = () => last(struck);
  await during(struck, fault, 'redis', () =>
    fault === 'flush' ? flush(own.redis.uri, lasting) : evict(own.redis.uri, below(2) === 0, lasting),
  );
  if (isCalm) await sleep(AFTERMATH_MS);
}

/** Packets between a gateway and some of its clients get lost in both directions; nobody is told. */
async function loseClients(struck: Struck): Promise<void> {
  const gateways = struck.own.services.filter(({ door }) => door === 'gateway');
  const { name, clients } = pickUsed(struck, gateways);
  await during(struck, 'half-open', `clients of ${name}`, async () => {
    await clients.tell('silence');
    await last(struck);
    await clients.tell('restore');
  });
}

async function slowReaders(struck: Struck): Promise<void> {
  const readers = struck.devices.filter(({ app }) => app?.door);
  const some = Array.from({ length: Math.min(SLOW_READERS, readers.length) }, () => pick(struck, readers));
  await Promise.all(
    [...new Set(some)].map(({ client, app }) =>
      during(struck, 'slow-reader', client, async () => {
        const door = app?.door;
        door?.pause(true);
        await last(struck);
        door?.pause(false);
      }),
    ),
  );
}

export const strikes: Record<FaultKind, Strike> = {
  kill: (struck) => kill(struck, pickUsed(struck)),
  stop,
  freeze,
  clock: shiftClock,
  reload,
  'database-stop': (struck) => restartDatabase(struck, 'database-stop', 'SIGTERM'),
  'database-kill': (struck) => restartDatabase(struck, 'database-kill', 'SIGKILL'),
  'disk-full': disturbWrites,
  'redis-cut': cutRedis,
  'redis-stop': stopRedis,
  flush: (struck) => loseKeys(struck, 'flush'),
  evict: (struck) => loseKeys(struck, 'evict'),
  'half-open': loseClients,
  'slow-reader': slowReaders,
};
