import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { z } from 'zod';
import { parseRedisUrl } from './redis/url.js';

/** Invalid settings. `faults` has one line per variable. */
export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Digits only: a blank or `0x50` is a mistake, not port 0 or 80. */
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .refine((number) => number <= 65_535, 'must be a port number from 0 to 65535');

const instances = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a number of processes from 1 to 999')
  .transform(Number);

const onOff = z.enum(['on', 'off'], 'must be on or off');

const mongoUri = z
  .string()
  .regex(/^mongodb(\+srv)?:\/\/[^/\s]+/, 'must look like mongodb://host:27017/database');

const redisUrl = z.string().superRefine((url, check) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    check.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

const timeZone = z.string().refine((name) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}, 'must be an IANA time zone such as Asia/Seoul');

/** `localhost:3000` is a URL of the scheme `localhost`; its origin is `null`, as for any sandboxed page. */
function isWebOrigin(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** `*`, or origins such as `https://app.example.org`, comma-separated. */
const origins = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean),
  )
  .refine(
    (list) => list.length > 0 && list.every((origin) => origin === '*' || isWebOrigin(origin)),
    'must be * or a comma-separated list of origins such as https://app.example.org',
  )
  .transform((list) => list.map((origin) => (origin === '*' ? origin : new URL(origin).origin)));

/** The variables, in the order of README's table. */
const schema = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  /** Address that both ports bind to; loopback by default, so that nothing is exposed by accident. */
  HOST: z.string().default('127.0.0.1'),
  /** REST, event streams, documents and demo; 0 picks a free port. */
  HTTP_PORT: port.default(8080),
  /** Socket.IO; 0 picks a free port. */
  GATEWAY_PORT: port.default(8081),
  /** Folder of the embedded database and the development key. */
  DATA_DIR: z.string().default('.data'),
  /** MongoDB to use; unset: the embedded database. */
  MONGODB_URI: mongoUri.optional(),
  /**
   * Redis shared by the processes; unset: everything in one process. Forms: redis/url.ts.
   */
  REDIS_URL: redisUrl.optional(),
  /** Signs what processes publish to each other through Redis; the same for all of them. */
  REDIS_SIGNING_KEY: z
    .string()
    .refine((key) => Buffer.byteLength(key) >= 32, 'must be at least 32 bytes')
    .optional(),
  /** Channels of the Socket.IO adapter: `sharded` spreads them over the nodes of a Redis Cluster (Redis 7). */
  REDIS_ADAPTER: z.enum(['classic', 'sharded'], 'must be classic or sharded').default('classic'),
  /** Whether a process that does not reach Redis at its start exits, instead of serving what it can. */
  REDIS_REQUIRED: onOff.default('off'),
  /** What the gateway runs on: uWebSockets.js, Socket.IO's ws, or the first where it has a binary that loads. */
  GATEWAY_ENGINE: z.enum(['auto', 'uws', 'ws'], 'must be auto, uws or ws').default('auto'),
  /** Whether a proxy keeps each client at one gateway, which long-polling needs with several. */
  GATEWAY_STICKY: onOff.default('off'),
  /** Processes that `npm run cluster` starts. */
  HTTP_INSTANCES: instances.default(2),
  GATEWAY_INSTANCES: instances.default(3),
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
    .preprocess(
      (value) => ({ off: 0, on: 1 })[value as 'off' | 'on'] ?? value,
      z.coerce.number().int().min(0).max(10),
    )
    .default(0),
  /** Zone of local date-times in responses; the legacy app assumes UTC. */
  TIME_ZONE: timeZone.default('UTC'),
  /** Who may push a message without a token: `bound` clients, nobody (`off`), anybody (`open`); unset: `bound`, in production `off`. */
  LEGACY_ANONYMOUS: z.enum(['bound', 'open', 'off'], 'must be bound, open or off').optional(),
  /** Confirms LEGACY_ANONYMOUS=open in production. */
  LEGACY_ANONYMOUS_OPEN_CONFIRMED: onOff.default('off'),
  /** Request, message and connection limits. */
  RATE_LIMIT: onOff.default('on'),
  /** Whether an overloaded process refuses part of the work; unset: as RATE_LIMIT. */
  LOAD_SHEDDING: onOff.optional(),
  /** Frames of one member to one gateway in 10 s; whatever connection sends a further one is closed. */
  SOCKET_FRAMES: z.coerce.number().int().min(100).max(1_000_000).default(2_000),
  /** Bytes of one member to one gateway in 10 s, the same; the default is twice the longest messages of their budget. */
  SOCKET_BYTES: z.coerce.number().int().min(131_072).max(1_000_000_000).default(8_388_608),
  /** Connects of one address to one gateway in 10 s; of IPv6 addresses a /64 counts as one. */
  SOCKET_HANDSHAKES: z.coerce.number().int().min(10).max(1_000_000).default(1_000),
  /** Connections of one address to one gateway that are not admitted yet. */
  SOCKET_UNADMITTED: z.coerce.number().int().min(10).max(1_000_000).default(500),
  /** What a member may store in 24 h, from the first record on; RATE_LIMIT=off lifts these, too. */
  MESSAGES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(5_000),
  ARTICLES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(100),
  COMMENTS_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(1_000),
  /** Live comments and replies that an article takes. */
  ARTICLE_COMMENTS: z.coerce.number().int().min(1).max(100_000).default(1_000),
  /** Article searches that an HTTP process runs at once; few more wait, the others are refused. */
  SEARCHES_AT_ONCE: z.coerce.number().int().min(1).max(100).default(2),
  /** Answers not yet read and requests not yet handled that an HTTP process holds at most, MiB. */
  HTTP_HELD_MIB: z.coerce.number().int().min(1).max(65_536).default(64),
  /** Sample data on an empty database, and the demo page; unset: on with the embedded database. */
  DEMO: onOff.optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Bearer token required by /metrics; unset: none. */
  METRICS_TOKEN: z.string().min(8, 'must be at least 8 characters').optional(),
  /** Time over which a stopping process closes its connections, ms. */
  DRAIN_WINDOW_MS: z.coerce.number().int().min(0).max(300_000).default(2_000),
  /** Longest time a stop may take, ms. */
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(10_000),
});

type Settings = z.infer<typeof schema>;

export type Config = Readonly<
  Omit<Settings, 'DEMO' | 'LEGACY_ANONYMOUS' | 'LOAD_SHEDDING'> & {
    DEMO: boolean;
    LEGACY_ANONYMOUS: 'bound' | 'open' | 'off';
    LOAD_SHEDDING: 'on' | 'off';
    production: boolean;
  }
>;

/** Names of all variables. */
export const variableNames = Object.keys(schema.shape);

/** Settings that only development allows. (contract, section 1) */
function productionFaults(settings: Settings): string[] {
  if (settings.NODE_ENV !== 'production') return [];
  const faults: string[] = [];
  if (!settings.JWT_SECRET && !settings.JWT_PUBLIC_KEY && !settings.JWKS_URL) {
    faults.push('JWT_SECRET: production needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWKS_URL');
  }
  // A provider's key set signs tokens for all its applications, and may hold keys of other issuers.
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (settings.JWKS_URL && !settings[name]) faults.push(`${name}: production needs it with JWKS_URL`);
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

/** Unknown names in `.env`: usually misspelled. */
function unknownFaults(file: Record<string, string>): string[] {
  return Object.keys(file)
    .filter((name) => !variableNames.includes(name))
    .map((name) => `${name}: .env names a variable that does not exist`);
}

/**
 * Reads the settings from the environment and then `.env`; the only place that reads the environment.
 *
 * @param folder of `.env`
 * @throws ConfigError with one line per fault
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env, folder: string = process.cwd()): Config {
  const path = resolve(folder, '.env');
  const file = existsSync(path) ? parseDotenv(readFileSync(path)) : {};
  // An empty value counts as unset: `JWT_ISSUER=` in a file means "none".
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...file, ...env })) if (value) given[name] = value;

  const faults = unknownFaults(file);
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    faults.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
    throw new ConfigError(faults);
  }
  const settings = parsed.data;
  const keys = [settings.JWT_SECRET, settings.JWT_PUBLIC_KEY, settings.JWKS_URL].filter(Boolean);
  if (keys.length > 1) faults.push('JWT_SECRET: set only one of JWT_SECRET, JWT_PUBLIC_KEY and JWKS_URL');
  faults.push(...productionFaults(settings));
  if (faults.length > 0) throw new ConfigError(faults);
  const production = settings.NODE_ENV === 'production';
  return {
    ...settings,
    LEGACY_ANONYMOUS: settings.LEGACY_ANONYMOUS ?? (production ? 'off' : 'bound'),
    LOAD_SHEDDING: settings.LOAD_SHEDDING ?? settings.RATE_LIMIT,
    DEMO: settings.DEMO ? settings.DEMO === 'on' : !settings.MONGODB_URI,
    production,
  };
}
