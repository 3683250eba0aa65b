import { z } from 'zod';

const whole = (least: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= least, `must be at least ${least}`);

const url = z.url({ protocol: /^https?$/, error: 'must be an http:// address' });

/** Options of `npm run load`, by their names on the command line. */
export const optionSchema = z
  .object({
    members: whole(2).optional(),
    rooms: whole(1).optional(),
    streams: whole(1).optional(),
    documents: whole(1_000).optional(),
    seconds: z.coerce.number('must be a number').min(0.1, 'must be at least 0.1').default(8),
    minutes: z.coerce.number('must be a number').min(0.01, 'must be at least 0.01').optional(),
    rate: whole(1).optional(),
    runs: whole(1).optional(),
    clients: whole(1).default(2),
    only: z.string().optional(),
    http: url.optional(),
    gateway: url.optional(),
    secret: z.string().min(32, 'must be at least 32 bytes').optional(),
    profile: z.string().optional(),
    json: z.string().optional(),
    html: z.string().optional(),
    format: z.enum(['report', 'github-action-benchmark']).default('report'),
    baseline: z.string().optional(),
  })
  .refine(({ format, json }) => format === 'report' || json, {
    path: ['format'],
    error: 'needs --json FILE',
  })
  .refine(({ http, gateway, secret }) => {
    const given = [http, gateway, secret].filter((value) => value !== undefined).length;
    return given === 0 || given === 3;
  }, 'an existing installation needs --http, --gateway and --secret');

export type LoadOptions = z.output<typeof optionSchema>;

/** Options that change what is measured. */
export const sizeOptions = [
  'members',
  'rooms',
  'streams',
  'documents',
  'seconds',
  'minutes',
  'rate',
  'clients',
] as const satisfies (keyof LoadOptions)[];

/** An installation that runs already, and the secret that signs its tokens. */
export type RemoteTarget = Required<Pick<LoadOptions, 'http' | 'gateway' | 'secret'>>;

/** The remote target, if the options name one. */
export function remoteTargetOf({ http, gateway, secret }: LoadOptions): RemoteTarget | undefined {
  return http && gateway && secret ? { http, gateway, secret } : undefined;
}
