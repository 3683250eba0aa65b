import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A figure the computation starts from. */
export interface Input {
  value: number;
  unit: string;
  /**
   * `measured` on a machine of ours; a `target` that the load tests hold the service to; or `assumed`,
   * to be replaced by what an installation sees.
   */
  kind: 'measured' | 'target' | 'assumed';
  source: string;
}

const figure =
  (kind: Input['kind']) =>
  (value: number, unit: string, source: string): Input => ({ value, unit, kind, source });
const [measured, target, assumed] = [figure('measured'), figure('target'), figure('assumed')];

/** Every figure by name. Costs are CPU time of one core of a small virtual machine. */
export const defaultInputs = {
  socketKiB: target(20, 'KiB', 'at most, `npm run load -- idle`; bare Socket.IO on uWS: 16.5'),
  streamKiB: target(22, 'KiB', 'at most, `npm run load -- idle`; bare node response: 18.5'),
  processMiB: measured(150, 'MiB', '`npm run cluster -- status` after a start: 140 to 147'),
  deliveryUs: measured(2.8, 'µs', 'native publish to one socket (2.1 to 2.8), `npm run load -- fanout`'),
  messageUs: measured(
    56,
    'µs',
    'a message stored, acked, delivered twice, in a prototype; `npm run load -- chat`',
  ),
  streamEventUs: measured(15, 'µs', 'one event on one stream (12 to 15), `npm run load -- announce`'),
  foreignUs: assumed(15, 'µs', 'a push decoded and dropped by a gateway without a member of its room'),
  connectUs: assumed(600, 'µs', 'a token checked, a connection, a join; `npm run load -- storm`'),
  readUs: assumed(500, 'µs', 'a REST read with its query; `npm run load -- http`'),
  messagesPerHour: assumed(12, '/h', 'messages a connected member sends in the busiest hour'),
  notificationsPerHour: assumed(6, '/h', 'notifications a connected member gets in the busiest hour'),
  readsPerHour: assumed(60, '/h', 'REST reads of a connected member in the busiest hour'),
  inRoomShare: assumed(0.2, '', 'share of the connected members who have a room open'),
  messageBytes: assumed(900, 'B', 'a stored message with its indexes, after compression'),
  busyHoursPerDay: assumed(8, 'h', 'busy hours a day: turns the busiest hour into a day'),
  load: assumed(0.5, '', 'share of a core or store that is used in the busiest hour'),
  machineCores: assumed(16, '', 'cores of a machine'),
  machineGiB: assumed(64, 'GiB', 'memory of a machine'),
  socketsPerProcess: assumed(40_000, '', 'sockets of a gateway: what may come back at once when it dies'),
  streamsPerProcess: assumed(40_000, '', 'streams of an http process'),
  redisPerSecond: assumed(150_000, '/s', 'messages a Redis node hands to subscribers'),
  mongoWritesPerSecond: assumed(20_000, '/s', 'documents a MongoDB primary stores, in groups'),
  mongoReadsPerSecond: assumed(60_000, '/s', 'indexed reads a MongoDB node answers'),
} satisfies Record<string, Input>;

export type InputName = keyof typeof defaultInputs;
export type Inputs = Record<InputName, Input>;

/** A figure, or a figure with where it comes from. */
const schema = z.record(
  z.string(),
  z.union([
    z.number().positive(),
    z.object({ value: z.number().positive(), source: z.string().min(1).optional() }),
  ]),
);

/**
 * The figures, those of a file over the built-in ones.
 * @param path JSON such as `{"messageUs": 61, "readUs": {"value": 380, "source": "our staging"}}`
 * @throws Error naming what is not a figure of this computation
 */
export function readInputs(path?: string): Inputs {
  const inputs: Inputs = { ...defaultInputs };
  if (path === undefined) return inputs;
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new Error(`${path}: an object of positive numbers by name is needed`);
  for (const [name, given] of Object.entries(parsed.data)) {
    if (!Object.hasOwn(inputs, name)) throw new Error(`${path}: there is no figure ${name}`);
    const { value, source = path } = typeof given === 'number' ? { value: given } : given;
    inputs[name as InputName] = { ...inputs[name as InputName], value, kind: 'measured', source };
  }
  return inputs;
}
