import { z } from 'zod';

const whole = (least: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= least, `must be at least ${least}`);

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
  .transform((text) => text.replace(/\/$/, ''));

/** What is written of the figures, and what they are compared with. */
const outputs = {
  json: z.string().optional(),
  baseline: z.string().optional(),
  'save-baseline': z.string().optional(),
};

/** Fewest turns, before and now, from whose spread a tolerance is taken. */
export const BASELINE_TURNS = 5;

/** What is written, and where. */
export type Outputs = z.output<z.ZodObject<typeof outputs>>;

type Baselines = Pick<Outputs, 'baseline' | 'save-baseline'>;

/** Whether figures are compared with those of another build, which needs BASELINE_TURNS, and no peers. */
export const isCompared = (options: Baselines) =>
  options.baseline !== undefined || options['save-baseline'] !== undefined;

/** `--seconds` by default: the lengths and pauses of all scenarios are meant for it, and bounds are judged from it on. */
export const FULL_SECONDS = 8;

/** Fewest `--seconds` where builds are compared: scenarios then take the time that they need besides. */
const LEAST_COMPARED_SECONDS = 1;

/** What decides how long a measurement takes, and what comes before it. */
export type Lengths = Baselines & Pick<LoadOptions, 'seconds'>;

/**
 * Whether `--seconds` asks for a short run: nothing is made longer than it says, and no bound is judged but that nothing is lost.
 * Not where builds are compared: figures need whole warm-ups there, and some a least length, or they vary more than they may.
 */
export const isShort = (options: Lengths) => options.seconds < FULL_SECONDS && !isCompared(options);

/** Options that servers of the command's own, and an installation that runs already, do not have, and why. */
const NOT_OF_OWN = [
  ['tokens', 'keep'],
  'only for an installation that runs already (--http --gateway)',
] as const;
const NOT_OF_REMOTE = [['stages', 'profile'], 'not of an installation that runs already'] as const;

/** Options of `npm run load`, by their names on the command line. */
export const optionSchema = z
  .object({
    members: whole(2).optional(),
    rooms: whole(1).optional(),
    streams: whole(1).optional(),
    documents: whole(1_000).optional(),
    seconds: z.coerce.number('must be a number').min(0.1, 'must be at least 0.1').default(FULL_SECONDS),
    minutes: z.coerce.number('must be a number').min(0.01, 'must be at least 0.01').optional(),
    rate: whole(1).optional(),
    runs: whole(1).optional(),
    clients: whole(1).default(2),
    only: z.string().optional(),
    http: url.optional(),
    gateway: url.optional(),
    tokens: z.string().optional(),
    keep: z.boolean().default(false),
    profile: z.string().optional(),
    stages: z.boolean().optional(),
    ...outputs,
  })
  .refine(({ http, gateway }) => (http === undefined) === (gateway === undefined), {
    error: 'an installation that runs already needs --http and --gateway',
  })
  .check(({ value, issues }) => {
    const { http, tokens, keep, runs, seconds } = value;
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', input: undefined, path: [path], message });
    const [unfit, reason] = http === undefined ? NOT_OF_OWN : NOT_OF_REMOTE;
    for (const name of unfit) if (value[name]) refuse(name, reason);
    if (tokens !== undefined && keep) refuse('keep', 'what members of --tokens write always stays');
    if (!isCompared(value)) return;
    const atLeast = (least: number) => `must be at least ${least} with --baseline or --save-baseline`;
    if (runs !== undefined && runs < BASELINE_TURNS) refuse('runs', atLeast(BASELINE_TURNS));
    if (seconds < LEAST_COMPARED_SECONDS) refuse('seconds', atLeast(LEAST_COMPARED_SECONDS));
  });

export type LoadOptions = z.output<typeof optionSchema>;

/** Options that only some scenarios heed: they change what is measured there. */
export const scenarioOptions = [
  'members',
  'rooms',
  'streams',
  'documents',
  'minutes',
  'rate',
  'stages',
] as const satisfies (keyof LoadOptions)[];

export type ScenarioOption = (typeof scenarioOptions)[number];

/** Options that change what any scenario measures, by their values. */
export const commonOptions = ['seconds', 'clients'] as const satisfies (keyof LoadOptions)[];

/** Addresses of the installation that runs already, if the options name one. */
export function remoteTargetOf({ http, gateway }: LoadOptions) {
  return http && gateway ? { http, gateway } : undefined;
}
