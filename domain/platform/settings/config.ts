import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { parseRedisUrl } from '../redis/url.js';
import { mongoUri, offOrSpan, oneOf, onOff, origins, redisUrl, timeZone, whole } from './setting-values.js';
import { unknownInEnvironment, unknownInFile } from './unknown-settings.js';

/** Invalid settings. `faults` has one line per variable. */
export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Time, ms, in which requests (3 s, http/server.ts) and then the domain finish after the drain window. */
const AFTER_DRAIN_MS = 4_000;

/** So many comments are still read within the time limit of a query. */
export const MOST_COMMENTS = 100_000;

/** The variables, in the order of docs/reference/settings.md. */
const schema = z.object({
  NODE_ENV: oneOf('development', 'test', 'production').default('development'),
  /** Address that all ports bind to; loopback by default, so that nothing is exposed by accident. */
  HOST: z.string().default('127.0.0.1'),
  /** REST, event streams, documents and demo; 0 picks a free port. */
  HTTP_PORT: whole(0, 65_535).default(8080),
  /** Socket.IO; 0 picks a free port. */
  GATEWAY_PORT: whole(0, 65_535).default(8081),
  /** Operators' calls on a port of the process's own; under pm2 its number is added (observe/metrics/targets.ts). */
  METRICS_PORT: whole(0, 65_535).optional(),
  /** Folder of the embedded database and the development key. */
  DATA_DIR: z.string().default('.data'),
  /** MongoDB to use; unset: the embedded database. */
  MONGODB_URI: mongoUri.optional(),
  /** Redis shared by the processes; unset: everything in one process. Forms: redis/url.ts. */
  REDIS_URL: redisUrl.optional(),
  /** Signs what processes publish to each other through Redis; the same for all of them. */
  REDIS_SIGNING_KEY: z
    .string()
    .refine((key) => Buffer.byteLength(key) >= 32, 'must be at least 32 bytes')
    .optional(),
  /** Channels of the Socket.IO adapter: `sharded` spreads them over the nodes of a Redis Cluster (Redis 7). */
  REDIS_ADAPTER: oneOf('classic', 'sharded').default('classic'),
  /** Whether a process that does not reach Redis at its start exits, instead of serving what it can. */
  REDIS_REQUIRED: onOff.default('off'),
  /** What the gateway runs on: uWebSockets.js, Socket.IO's ws, or the first where it has a binary that loads. */
  GATEWAY_ENGINE: z.enum(['auto', 'uws', 'ws'], 'must be auto, uws or ws').default('auto'),
  /** Whether a proxy keeps each client at one gateway, which long-polling needs with several. */
  GATEWAY_STICKY: onOff.default('off'),
  /** Processes that `npm run cluster` starts. */
  HTTP_INSTANCES: whole(1, 999).default(2),
  GATEWAY_INSTANCES: whole(1, 999).default(3),
  /** HS256 secret, 32 bytes or more (RFC 7518, section 3.2). */
  JWT_SECRET: z
    .string()
    .refine((secret) => Buffer.byteLength(secret) >= 32, 'must be at least 32 bytes')
    .optional(),
  /** Public key in PEM (line breaks may be written as \n). */
  JWT_PUBLIC_KEY: z
    .string()
    .transform((pem) => pem.replaceAll('\\n', '\n'))
    .refine((pem) => pem.includes('-----BEGIN'), 'must be a public key in PEM')
    .optional(),
  /** Address of a JSON Web Key Set (RFC 7517). */
  JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  /** Required `iss` claim. */
  JWT_ISSUER: z.string().optional(),
  /** Required `aud` claim. */
  JWT_AUDIENCE: z.string().optional(),
  /** Browser origins that may call; unset: pages of this machine (loopback, any port). */
  CORS_ORIGINS: origins.optional(),
  /** Number of trusted proxies in front, whose X-Forwarded-For is used; `off` is 0. */
  TRUST_PROXY: z
    .preprocess((value) => (value === 'off' ? '0' : value === 'on' ? '1' : value), whole(0, 10))
    .default(0),
  /** Zone of local date-times in responses; the legacy app assumes UTC. */
  TIME_ZONE: timeZone.default('UTC'),
  /** Who may push a message without a token: `bound` clients, nobody (`off`), anybody (`open`); unset: `bound`, in production `off`. */
  LEGACY_ANONYMOUS: oneOf('bound', 'open', 'off').optional(),
  /** Confirms LEGACY_ANONYMOUS=open in production. */
  LEGACY_ANONYMOUS_OPEN_CONFIRMED: onOff.default('off'),
  /** Request, message and connection limits. */
  RATE_LIMIT: onOff.default('on'),
  /** Whether an overloaded process refuses part of the work; unset: as RATE_LIMIT. */
  LOAD_SHEDDING: onOff.optional(),
  /** Time within which requests and events are to be done while there are many, ms. */
  QUEUE_MS: whole(5, 10_000).default(10),
  /** Frames of one member to one gateway in 10 s; whatever connection sends a further one is closed. */
  SOCKET_FRAMES: whole(100, 1_000_000).default(2_000),
  /** Bytes of one member to one gateway in 10 s, the same; the default is twice the longest messages of their budget. */
  SOCKET_BYTES: whole(131_072, 1_000_000_000).default(8_388_608),
  /** Connects of one address to one gateway in 10 s; of IPv6 addresses a /64 counts as one. */
  SOCKET_HANDSHAKES: whole(10, 1_000_000).default(1_000),
  /** Connections of one address to one gateway that are not admitted yet. */
  SOCKET_UNADMITTED: whole(10, 1_000_000).default(500),
  /** Connections of one address to one gateway, admitted or not. */
  SOCKET_CONNECTIONS: whole(10, 1_000_000).default(10_000),
  /** Connections of one address to one HTTP process, event streams included; not behind a proxy. */
  HTTP_CONNECTIONS: whole(10, 1_000_000).default(10_000),
  /** What a member may store in 24 h, from the first record on; RATE_LIMIT=off lifts these, too. */
  ROOMS_PER_DAY: whole(1, 1_000_000).default(200),
  MESSAGES_PER_DAY: whole(1, 1_000_000).default(5_000),
  ARTICLES_PER_DAY: whole(1, 1_000_000).default(100),
  COMMENTS_PER_DAY: whole(1, 1_000_000).default(1_000),
  /** Live comments and replies that an article takes. */
  ARTICLE_COMMENTS: whole(1, MOST_COMMENTS).default(1_000),
  /** Article searches that an HTTP process runs at once; few more wait, the others are refused. */
  SEARCHES_AT_ONCE: whole(1, 100).default(2),
  /** Answers not yet read and requests not yet handled that an HTTP process holds at most, MiB. */
  HTTP_HELD_MIB: whole(1, 65_536).default(64),
  /** How long an idle connection to a process is kept, ms: longer than a proxy in front keeps it. */
  KEEP_ALIVE_MS: whole(6_000, 3_600_000).default(65_000),
  /** Sample data on an empty database, and the demo page; unset: on with the embedded database. */
  DEMO: onOff.optional(),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  /** Requests and events of sockets to log, beside those that fail: none, those that are refused, all, or a share. */
  LOG_REQUESTS: z
    .string()
    .regex(
      /^(?:off|errors|all|0?\.\d{1,6}|1)$/,
      'must be off, errors, all, or a share from 0 to 1 such as 0.01',
    )
    .transform((text) => (/\d/.test(text) ? Number(text) : (text as 'off' | 'errors' | 'all')))
    .default('off'),
  /** Time between passes that compare stored values with their records, ms; unset: `off`, in production a day. */
  VERIFY_EVERY: offOrSpan.optional(),
  /** Bearer token required by /metrics; unset: none. */
  METRICS_TOKEN: z.string().min(8, 'must be at least 8 characters').optional(),
  /** Whether the time that messages spend in each stage is measured. */
  MESSAGE_STAGES: onOff.default('off'),
  /** Base address of an OTLP receiver over HTTP, which gets traces; unset: nothing is recorded. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional(),
  /** Share of the requests and events whose traces are recorded. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, 'must be 0 to 1')
    .transform(Number)
    .default(1),
  /** Time over which a stopping process closes its connections, ms. */
  DRAIN_WINDOW_MS: whole(0, 300_000).default(2_000),
  /** Longest time a stop may take, ms; of one of several processes AFTER_DRAIN_MS more than the window. */
  SHUTDOWN_TIMEOUT_MS: whole(100, 600_000).default(10_000),
});

type Settings = z.infer<typeof schema>;

const DAY_MS = 86_400_000;

/** Limits that RATE_LIMIT=off lifts whatever they are set to; the others are not applied then. */
const LIFTED = { ARTICLE_COMMENTS: MOST_COMMENTS, SEARCHES_AT_ONCE: Number.POSITIVE_INFINITY };

export type Config = Readonly<
  Omit<Settings, 'DEMO' | 'LEGACY_ANONYMOUS' | 'LOAD_SHEDDING' | 'VERIFY_EVERY'> & {
    DEMO: boolean;
    LEGACY_ANONYMOUS: 'bound' | 'open' | 'off';
    LOAD_SHEDDING: 'on' | 'off';
    VERIFY_EVERY: number | 'off';
    production: boolean;
    /** Under pm2, the number of this process among those of its kind, from 0. */
    instance?: number;
  }
>;

/** Names of all variables. */
export const variableNames = Object.keys(schema.shape);

type Given = Readonly<Record<string, string>>;

/** Settings that only development allows. (contract, section 1) */
function productionFaults(settings: Settings, given: Given): string[] {
  if (settings.NODE_ENV !== 'production') return [];
  const faults: string[] = [];
  if (!given.JWT_SECRET && !given.JWT_PUBLIC_KEY && !given.JWKS_URL) {
    faults.push('JWT_SECRET: production needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWKS_URL');
  }
  // A provider's key set signs tokens for all its applications, and may hold keys of other issuers.
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (given.JWKS_URL && !settings[name]) faults.push(`${name}: production needs it with JWKS_URL`);
  }
  if (!settings.MONGODB_URI) faults.push('MONGODB_URI: production needs a MongoDB server: set it');
  const { REDIS_URL: redisUrl } = settings;
  if (redisUrl && !settings.REDIS_SIGNING_KEY && !parseRedisUrl(redisUrl).password) {
    faults.push('REDIS_SIGNING_KEY: production needs it unless REDIS_URL has a password: set it');
  }
  if (settings.DEMO === 'on') faults.push('DEMO: must be off in production');
  if (!settings.CORS_ORIGINS) {
    faults.push('CORS_ORIGINS: production needs the list of allowed origins (or * for all)');
  }
  if (settings.LEGACY_ANONYMOUS === 'open' && settings.LEGACY_ANONYMOUS_OPEN_CONFIRMED !== 'on') {
    faults.push(
      'LEGACY_ANONYMOUS: open lets anybody write as anybody; production also needs LEGACY_ANONYMOUS_OPEN_CONFIRMED=on',
    );
  }
  return faults;
}

function keyFaults(given: Given): string[] {
  const keys = [given.JWT_SECRET, given.JWT_PUBLIC_KEY, given.JWKS_URL].filter(Boolean);
  return keys.length > 1 ? ['JWT_SECRET: set only one of JWT_SECRET, JWT_PUBLIC_KEY and JWKS_URL'] : [];
}

/** A window that leaves too little time would make every stop of several processes end as if they were killed. */
function stopFaults({ REDIS_URL, DRAIN_WINDOW_MS, SHUTDOWN_TIMEOUT_MS }: Settings): string[] {
  const least = DRAIN_WINDOW_MS + AFTER_DRAIN_MS;
  if (!REDIS_URL || SHUTDOWN_TIMEOUT_MS >= least) return [];
  return [`SHUTDOWN_TIMEOUT_MS: must be at least ${least}: DRAIN_WINDOW_MS and ${AFTER_DRAIN_MS} more`];
}

/** For a service whose servers are on one machine. */
export function equalPorts({ HTTP_PORT, GATEWAY_PORT, METRICS_PORT }: Config): string[] {
  const clash = (port: number | undefined, other: number) => port === other && other > 0;
  return [
    ...(clash(GATEWAY_PORT, HTTP_PORT)
      ? [`GATEWAY_PORT: must not be ${GATEWAY_PORT}, the HTTP_PORT: REST and sockets need a port each`]
      : []),
    ...(['HTTP_PORT', 'GATEWAY_PORT'] as const)
      .filter((name) => clash(METRICS_PORT, name === 'HTTP_PORT' ? HTTP_PORT : GATEWAY_PORT))
      .map((name) => `METRICS_PORT: must not be ${METRICS_PORT}, the ${name}`),
  ];
}

function resolved(settings: Settings, env: NodeJS.ProcessEnv): Config {
  const production = settings.NODE_ENV === 'production';
  return {
    ...settings,
    ...(settings.RATE_LIMIT === 'off' ? LIFTED : {}),
    LEGACY_ANONYMOUS: settings.LEGACY_ANONYMOUS ?? (production ? 'off' : 'bound'),
    LOAD_SHEDDING: settings.LOAD_SHEDDING ?? settings.RATE_LIMIT,
    VERIFY_EVERY: settings.VERIFY_EVERY ?? (production ? DAY_MS : 'off'),
    DEMO: settings.DEMO ? settings.DEMO === 'on' : !settings.MONGODB_URI,
    production,
    ...(env.NODE_APP_INSTANCE ? { instance: Number(env.NODE_APP_INSTANCE) } : {}),
  };
}

/** The variables of `.env`. @param folder of it */
export function readEnvFile(folder: string = process.cwd()): Record<string, string | undefined> {
  const path = resolve(folder, '.env');
  return existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {};
}

/**
 * Reads the settings from the environment and then `.env`; the only place that reads the environment.
 *
 * @param folder of `.env`
 * @param furtherFaults what the caller itself requires of the settings, a line each
 * @throws ConfigError with one line per fault, all of them
 */
export function loadConfig(
  env: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
  furtherFaults: (config: Config) => string[] = () => [],
): Config {
  const file = readEnvFile(folder);
  // An empty value counts as unset: `JWT_ISSUER=` in a file means "none". A reload cannot remove a variable from running processes otherwise.
  const given: Record<string, string> = {};
  for (const source of [file, env])
    for (const [name, value] of Object.entries(source)) if (value) given[name] = value;
  const named = Object.keys(env).filter((name) => env[name]);
  const unknown = [
    ...unknownInFile(Object.keys(file), variableNames),
    ...unknownInEnvironment(named, variableNames),
  ];
  const bad = new Map(
    schema.safeParse(given).error?.issues.map(({ path, message }) => [String(path[0]), message]),
  );
  // What the settings require of each other is checked without those that are wrong already.
  const settings = schema.parse(Object.fromEntries(Object.entries(given).filter(([name]) => !bad.has(name))));
  const config = resolved(settings, env);
  const together = [
    ...keyFaults(given),
    ...productionFaults(settings, given),
    ...stopFaults(settings),
    ...furtherFaults(config),
  ];
  const faults = [
    ...unknown,
    ...[...bad].map(([name, message]) => `${name}: ${message}`),
    ...together.filter((line) => !bad.has(line.slice(0, line.indexOf(':')))),
  ];
  if (faults.length > 0) throw new ConfigError([...new Set(faults)]);
  return config;
}
