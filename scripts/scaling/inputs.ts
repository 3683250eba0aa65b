import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A figure the computation starts from. */
export interface Input {
  value: number;
  unit: string;
  /** `measured` on a machine of ours, or `assumed`, to be replaced by what an installation sees. */
  kind: 'measured' | 'assumed';
  source: string;
}

const figure =
  (kind: Input['kind']) =>
  (value: number, unit: string, source: string): Input => ({ value, unit, kind, source });
const [measured, assumed] = [figure('measured'), figure('assumed')];

/** Every figure by name. Costs are CPU time of one core of a small virtual machine. */
export const defaultInputs = {
  socketKiB: measured(9, 'KiB', '`npm run load -- idle`; bare Socket.IO on uWS: 7.3'),
  streamKiB: measured(13, 'KiB', '`npm run load -- idle`; bare node response: 8.2'),
  processMiB: measured(150, 'MiB', '`npm run cluster -- status` after a start: 140 to 147'),
  deliveryUs: measured(
    6.5,
    'µs',
    'native publish to one socket, nearly all of it the system call; `npm run load -- fanout`',
  ),
  messageUs: measured(
    370,
    'µs',
    'a message stored, acked, delivered twice, at 2,000 a second; `npm run load -- chat`',
  ),
  streamEventUs: measured(49, 'µs', 'one event on one stream, `npm run load -- announce`'),
  foreignUs: measured(
    160,
    'µs',
    'a push decoded and dropped by a gateway without a member of its room, at 300 a second; `npm run load -- cluster`',
  ),
  connectUs: measured(400, 'µs', 'a token checked, a connection, a join; `npm run load -- storm`'),
  readUs: measured(1_000, 'µs', 'a REST read with its query (430 to 1,240), `npm run load -- http`'),
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
