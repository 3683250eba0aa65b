import { createLogger } from '../../domain/platform/observe/logger.js';
import { connectRedis, type RedisConnection } from '../../domain/platform/redis/connection.js';
import { parseRedisUrl } from '../../domain/platform/redis/url.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { type Check, Fault, failure, ok, Skipped, shared, type Verdict, warning } from './check.js';
import { isLoopback } from './loopback.js';

/** Time for Redis to accept a write and to return what is published, ms. */
const CONNECT_MS = 3_000;

/** Share of maxmemory beyond which it will soon be full. */
const FULL_SHARE = 0.8;

/** The release with what our scripts use (`ZRANGE BYSCORE`, `ZADD GT`). */
const NEEDED = [6, 2];

const MIB = 2 ** 20;

/**
 * Least that Redis should keep for a subscriber that reads too slowly, bytes, s: its defaults (redis.conf:
 * client-output-buffer-limit pubsub 32mb 8mb 60), with which the service was tested and measured. Beyond, it closes the
 * connection, and what it kept is lost. (docs/runbook.md, "PushesLost")
 */
const BUFFER = { hard: 32 * MIB, soft: 8 * MIB, seconds: 60 };

/** What a Redis is like; of a cluster, one of its nodes. */
export interface RedisFacts {
  info: Record<string, string>;
  /** Its settings; undefined where the user may not read them. */
  settings: Record<string, string> | undefined;
  /** Its clock minus ours, ms. */
  skewMs: number;
}

/** Names and values of lines such as `redis_version:7.0.15`. */
function readInfo(text: string): Record<string, string> {
  const entries = text.split(/\r?\n/).map((line) => line.split(/:(.*)/s).slice(0, 2));
  return Object.fromEntries(entries.filter(({ length }) => length === 2));
}

async function readSettings({ commands }: RedisConnection): Promise<Record<string, string> | undefined> {
  const settings: Record<string, string> = {};
  try {
    for (const name of [
      'maxmemory*',
      'notify-keyspace-events',
      'client-output-buffer-limit',
      'save',
      'appendonly',
      'bind',
      'protected-mode',
    ]) {
      const flat = (await commands.config('GET', name)) as string[];
      for (let i = 0; i < flat.length; i += 2) settings[flat[i] as string] = flat[i + 1] as string;
    }
    return settings;
  } catch {
    return undefined;
  }
}

async function readFacts({ REDIS_URL, REDIS_SIGNING_KEY }: Config): Promise<RedisFacts> {
  if (!REDIS_URL) throw new Skipped('REDIS_URL is not set: everything runs in one process');
  const redis = connectRedis(REDIS_URL, createLogger('silent', 'doctor'), REDIS_SIGNING_KEY);
  let refusal: string | undefined;
  redis.commands.on('error', ({ message }: Error) => {
    refusal ??= message;
  });
  try {
    // ping() rejects with the reason.
    if (!(await redis.connected(CONNECT_MS))) await redis.ping();
    const sentAt = Date.now();
    const [seconds, micros] = (await redis.commands.time()) as [number, number];
    const midway = (sentAt + Date.now()) / 2;
    return {
      info: readInfo(await redis.commands.info()),
      settings: await readSettings(redis),
      skewMs: Number(seconds) * 1_000 + Number(micros) / 1_000 - midway,
    };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    const answered = redis.down
      ? undefined
      : 'what is published does not return (the channels of its ACL user?)';
    const { addresses } = parseRedisUrl(REDIS_URL);
    const hosts = addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
    throw new Fault(
      `Redis at ${hosts} cannot be used: ${refusal ?? answered ?? cause?.message ?? message}`,
      'check REDIS_URL, the rights of its user, the network and its log',
    );
  } finally {
    await redis.close();
  }
}

/** Judges the release. */
export function judgeVersion({ info }: RedisFacts, adapter: Config['REDIS_ADAPTER']): Verdict {
  const version = info.redis_version ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needMajor = 0, needMinor = 0] = adapter === 'sharded' ? [7, 0] : NEEDED;
  const text = `Redis ${version}`;
  if (major < needMajor || (major === needMajor && minor < needMinor)) {
    const sharded = adapter === 'sharded' ? ' with REDIS_ADAPTER=sharded' : '';
    return failure(`${text} is too old: ${needMajor}.${needMinor} is needed${sharded}`, 'install Redis 7');
  }
  return major < 7 ? warning(`${text}: tested with 7`, 'install Redis 7') : ok(text);
}

/** Judges what happens when the memory is full. */
export function judgeMemory({ info, settings }: RedisFacts): Verdict {
  if (!settings)
    throw new Skipped('this Redis user may not read CONFIG: maxmemory-policy must be noeviction');
  const [max, used] = [Number(settings.maxmemory), Number(info.used_memory)];
  const { 'maxmemory-policy': policy } = settings;
  if (policy !== 'noeviction' && max > 0)
    return failure(
      `maxmemory-policy is ${policy}: a full Redis forgets who is present and what limits count`,
      'maxmemory-policy noeviction',
    );
  const limit = max > 0 ? `${Math.floor((100 * used) / max)} % of maxmemory is used` : 'no maxmemory';
  if (max > 0 && used > max * FULL_SHARE)
    return warning(`${limit}: a full Redis refuses writes`, 'raise maxmemory');
  return ok(`${limit}; nothing is evicted`);
}

/** Judges whether Redis may stop taking writes, or fork, for data that it need not keep. */
export function judgePersistence({ info, settings }: RedisFacts): Verdict {
  const failed = Object.keys(info).filter(
    (name) => /^(?:rdb|aof)_last_\w+_status$/.test(name) && info[name] !== 'ok',
  );
  if (failed.length > 0)
    return failure(`its last save failed (${failed.join(', ')}): it may refuse writes`, 'free disk; its log');
  if (!settings) throw new Skipped('this Redis user may not read CONFIG; the service needs no persistence');
  const on = [settings.save && 'snapshots', settings.appendonly === 'yes' && 'append-only file'].filter(
    Boolean,
  );
  return ok(
    on.length > 0
      ? `${on.join(' and ')}: works, and is not needed`
      : 'off: the service rebuilds what is in it',
  );
}

/** Judges who else can reach it. */
export function judgeAccess({ settings }: RedisFacts, { REDIS_URL = '', production }: Config): Verdict {
  const { password, tls, addresses } = parseRedisUrl(REDIS_URL);
  const isLocal = addresses.every(({ host }) => isLoopback(host));
  if (!password) {
    const isOpen =
      settings?.['protected-mode'] === 'no' && !/^(?:-?(?:127\S*|::1)\s*)+$/.test(settings.bind ?? '');
    const text = `it asks for no password${isOpen ? ', and listens at all addresses' : ''}: who reaches it can speak for members`;
    const remedy = 'requirepass, and the password in REDIS_URL (docs/operations.md, "Who can reach Redis")';
    return isOpen || production ? failure(text, remedy) : warning(text, remedy);
  }
  if (!isLocal && !tls)
    return warning(
      'the password and all messages cross the network unencrypted',
      'rediss://, or a private network',
    );
  return ok('a password is set');
}

/** Judges whether Redis does needless work. */
function judgeEvents({ settings }: RedisFacts): Verdict {
  if (!settings) throw new Skipped('this Redis user may not read CONFIG');
  const events = settings['notify-keyspace-events'];
  if (!events) return ok('notify-keyspace-events is off');
  return warning(
    `notify-keyspace-events is ${events}: each write publishes, and the service does not listen`,
    'turn it off, unless another program needs it',
  );
}

/** Judges whether Redis soon closes the connection on which a process hears the others; 0 is no limit. */
export function judgeBuffer({ settings }: Pick<RedisFacts, 'settings'>): Verdict {
  const least = `${BUFFER.hard / MIB}mb ${BUFFER.soft / MIB}mb ${BUFFER.seconds}`;
  if (!settings)
    throw new Skipped(
      `this Redis user may not read CONFIG: client-output-buffer-limit pubsub must be at least ${least}`,
    );
  const limits = /\bpubsub (\d+) (\d+) (\d+)/.exec(settings['client-output-buffer-limit'] ?? '');
  if (!limits) throw new Skipped('this Redis tells no client-output-buffer-limit pubsub');
  const [hard = 0, soft = 0, seconds = 0] = limits.slice(1).map(Number);
  const isShort = soft < BUFFER.hard && seconds < BUFFER.seconds;
  const text = `client-output-buffer-limit pubsub is ${hard} ${soft} ${seconds}`;
  if ((hard > 0 && hard < BUFFER.hard) || (soft > 0 && (soft < BUFFER.soft || isShort)))
    return warning(
      `${text}: Redis closes a process’s connection when it lags a little, and its members see messages late`,
      `client-output-buffer-limit pubsub ${least}, or more (docs/runbook.md, "PushesLost")`,
    );
  return ok(text);
}

function judgeSigning({ REDIS_URL, REDIS_SIGNING_KEY }: Config): Verdict {
  if (!REDIS_URL) throw new Skipped('REDIS_URL is not set');
  if (REDIS_SIGNING_KEY) return ok('REDIS_SIGNING_KEY is set');
  return warning(
    'REDIS_SIGNING_KEY is not set: each push between processes is looked up in the database',
    'openssl rand -hex 32, the same for all processes',
  );
}

/** Redis: whether it works, version, memory, persistence, access, buffer, key. */
export function inspectRedis(config: () => Config) {
  const facts = shared('Redis cannot be read', async () => readFacts(config()));
  const checks: Check[] = [
    { name: 'redis', run: async () => judgeVersion(await facts.read(), config().REDIS_ADAPTER) },
    { name: 'redis memory', run: async () => judgeMemory(await facts.given()) },
    { name: 'redis persistence', run: async () => judgePersistence(await facts.given()) },
    { name: 'redis access', run: async () => judgeAccess(await facts.given(), config()) },
    { name: 'redis events', run: async () => judgeEvents(await facts.given()) },
    { name: 'redis buffer', run: async () => judgeBuffer(await facts.given()) },
    { name: 'redis signing key', run: () => judgeSigning(config()) },
  ];
  return { checks, skewMs: async () => (await facts.given()).skewMs };
}
