import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type FaultKind, faultKinds } from './faults/kinds.js';

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be from ${least} to ${most}`);

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http:// address' })
  .transform((text) => text.replace(/\/$/, ''));

const faults = z.string().transform((text, ctx): FaultKind[] => {
  if (text === 'none') return [];
  if (text === 'all') return faultKinds;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(faultKinds as string[]).includes(name));
  if (unknown.length > 0) {
    const message = `no fault ${unknown.join(', ')}: must be none, all, or some of ${faultKinds.join(',')}`;
    ctx.addIssue({ code: 'custom', message });
  }
  return faultKinds.filter((kind) => names.includes(kind));
});

const build = z.string().superRefine((folder, ctx) => {
  const missing = ['http/main.js', 'gateway/main.js'].filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0)
    ctx.addIssue({ code: 'custom', message: `${folder} has no ${missing.join(', no ')}` });
});

/** Options of `npm run prove`, by their names on the command line. */
export const optionSchema = z
  .object({
    /** Four: one client of each kind, and a room in which each member is not. */
    members: whole(4, 500).optional(),
    seconds: whole(1, 86_400).default(60),
    faults: faults.optional(),
    seed: whole(0, 999_999_999).optional(),
    gateways: whole(1, 20).optional(),
    http: z
      .union([whole(1, 20), url], 'must be a number from 1 to 20, or the address of an installation')
      .default(2),
    engine: z.enum(['uws', 'ws'], 'must be uws or ws').optional(),
    adapter: z.enum(['classic', 'sharded'], 'must be classic or sharded').optional(),
    build: build.optional(),
    gateway: url.optional(),
    tokens: z.string().optional(),
    log: z.string().optional(),
    check: z.string().optional(),
    edits: whole(1, 100_000).optional(),
    html: z.string().optional(),
    json: z.boolean().default(false),
    'fail-fast': z.boolean().default(false),
  })
  .refine(({ http, gateway }) => (typeof http === 'string') === (gateway !== undefined), {
    path: ['gateway'],
    message: 'an installation that runs already needs --http URL and --gateway URL',
  })
  .refine(({ gateway, faults: chosen }) => !gateway || !chosen?.length, {
    path: ['faults'],
    message: 'strike only an installation that the run starts itself',
  })
  .refine(({ gateway, tokens }) => gateway || !tokens, {
    path: ['tokens'],
    message: 'only for an installation that runs already (--http URL --gateway URL)',
  })
  .superRefine((options, ctx) => {
    if (!options.gateway) return;
    const message = 'only for an installation that the run starts itself';
    for (const name of ['gateways', 'engine', 'adapter', 'build'] as const)
      if (options[name] !== undefined) ctx.addIssue({ code: 'custom', path: [name], message });
  })
  .refine(({ check, edits }) => check !== undefined || edits === undefined, {
    path: ['edits'],
    message: 'changes a kept history: needs --check FILE',
  })
  .refine(({ edits, html, json }) => edits === undefined || (html === undefined && !json), {
    path: ['edits'],
    message: 'gives no verdict: not with --html or --json',
  })
  .refine(({ tokens, members }) => !tokens || members === undefined, {
    path: ['members'],
    message: 'not with --tokens, which says who the members are',
  });

/** What an installation is that the run starts, unless its options say otherwise. */
export const ownDefaults = { gateways: 3, adapter: 'classic' } as const;

/** Options of the verdict on a history, also on a kept one (`--check`); the others are of the run. */
export const verdictOptions = ['check', 'edits', 'html', 'json'];

export type ProveOptions = z.output<typeof optionSchema>;
