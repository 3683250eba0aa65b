import { measureGrowth } from '../capacity/growth.js';
import * as loads from '../capacity/loads.js';
import type { Measurement } from '../capacity/measure-load.js';
import { mostConnections } from '../capacity/most-connections.js';
import { findLargest, type Trial } from '../capacity/search.js';
import { isLatency } from '../metrics.js';
import { type LoadOptions, rampOf } from '../options.js';
import { GroupEnded, ProcessGroup } from '../process-group.js';
import { mosquitto, nchan, redisMissing } from '../programs.js';
import type { Ramp } from '../ramp.js';
import type { Contender, Entry, Measured, Run, Scenario } from '../scenario.js';
import { missedOf, type Objective, parseSlo } from '../slo.js';
import {
  bareUws,
  ours,
  plainWs,
  type Server,
  socketIoOnUws,
  socketIoOnWs,
  storingUws,
  textbook,
} from '../start-server.js';
import { summarise } from '../statistics.js';
import { formatFigure } from '../table.js';
import { atLeast, medianOf, notJudged, ratio } from '../verdict.js';
import { voidReason } from '../void-turn.js';

const SLO = 'p99<200ms,lost=0';

/** Trials of a search, about, and what one takes beside its measurement, s. */
const TRIALS = 8;
const TRIAL_SECONDS = 9;

/** First sizes to try. */
const MEMBERS = 1_000;
const ROOMS = 500;
const RATE = 1_000;
const STREAMS = 2_000;

const IN_A_ROOM = `members of one room, ${loads.ROOM_RATE} messages/s to it, one gateway`;
const TWO_PARTY = 'two-party rooms, a message a second in each, one gateway';
const MESSAGES = `messages/s in ${loads.ROOMS} two-party rooms, one gateway`;
const CLUSTER = `messages/s in ${loads.ROOMS} two-party rooms, two gateways over Redis`;
const STREAMS_PART = `event streams, ${loads.EVENTS_RATE} events/s to 50 of them, one http process`;

/** The options were checked before. @throws Error if they were not */
function objectivesOf({ slo = SLO }: LoadOptions): Objective[] {
  const objectives = parseSlo(slo);
  if (typeof objectives === 'string') throw new Error(objectives);
  return objectives;
}

type SizedTrial = Trial & Measurement & { missed: Objective[] };

/** Measures one size on servers of its own. One that fails does not hold. @throws GroupEnded */
async function attemptOnce(
  load: loads.Load,
  size: number,
  run: Run,
  objectives: Objective[],
): Promise<SizedTrial> {
  run.group.requireOpen();
  run.show?.(size.toLocaleString('en'));
  const group = new ProcessGroup(run.group.profile);
  try {
    const measurement = await load({ ...run, group }, size);
    const missed = missedOf(objectives, measurement.figures);
    return { size, holds: missed.length === 0, missed, ...measurement };
  } catch (error) {
    if (error instanceof GroupEnded) throw error;
    return { size, holds: false, missed: [], figures: {}, wall: (error as Error).message };
  } finally {
    await group.end();
  }
}

/** Measures a size, and again if it does not hold in a trial that shows the machine's state, not the server's. */
async function attempt(...of: Parameters<typeof attemptOnce>): Promise<SizedTrial> {
  const trial = await attemptOnce(...of);
  const { others, steal } = trial.figures;
  const isDisturbed = voidReason({ others, steal }) !== undefined;
  return trial.holds || !isDisturbed ? trial : attemptOnce(...of);
}

/** What the next size ran into: `2,000, p99<200ms is 312.00 ms: CPU of the service (…)`. */
function noteOf({ size, missed, figures, wall }: SizedTrial): string {
  const values = missed.map(({ text, metric }) => {
    const value = figures[metric];
    const unit = isLatency(metric) ? ' ms' : '';
    return value === undefined ? text : `${text} is ${formatFigure(metric, summarise([value]))}${unit}`;
  });
  return `${[size.toLocaleString('en'), ...values].join(', ')}: ${wall}`;
}

/** Finds the largest size of a load that keeps the objectives. */
async function measure({ first, connections }: Part, load: loads.Load, run: Run): Promise<Measured> {
  const objectives = objectivesOf(run.options);
  const { count, why } = mostConnections();
  const most = connections === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(count / connections);
  let hasRun = false;
  const { held, failed } = await findLargest(first(run.options), most, async (size) => {
    const trial = await attempt(load, size, run, objectives);
    const isBroken = !trial.holds && trial.missed.length === 0;
    if (isBroken && !hasRun) throw new Error(trial.wall);
    hasRun = true;
    return trial;
  });
  const note = failed ? noteOf(failed) : `more were not tried: ${why}`;
  return { ...held?.figures, carried: held?.size ?? 0, note };
}

interface Part {
  part: string;
  first(options: LoadOptions): number;
  /** To one server, that each of the size is; 0 if they do not grow with it. */
  connections: number;
  lines: [entry: Entry, load: loads.Load][];
}

const linesOf = (servers: Server[], load: (server: Server) => loads.Load) =>
  servers.map((server): [Entry, loads.Load] => [server, load(server)]);

const ROOM_SERVERS = [ours(), bareUws, socketIoOnUws(), plainWs, socketIoOnWs(), nchan, mosquitto];
const STORING = [ours(), storingUws, textbook];

const parts: Part[] = [
  {
    part: IN_A_ROOM,
    first: ({ members = MEMBERS }) => members,
    connections: 1,
    lines: linesOf(ROOM_SERVERS, loads.members),
  },
  {
    part: TWO_PARTY,
    first: ({ rooms = ROOMS }) => rooms,
    connections: 2,
    lines: linesOf(STORING, loads.rooms),
  },
  {
    part: MESSAGES,
    first: ({ rate = RATE }) => rate,
    connections: 0,
    lines: linesOf(STORING, loads.messages),
  },
  {
    part: CLUSTER,
    first: ({ rate = RATE }) => rate,
    connections: 0,
    lines: [[{ name: ours().name, role: 'ours', missing: redisMissing }, loads.clusterMessages]],
  },
  {
    part: STREAMS_PART,
    first: ({ streams = STREAMS }) => streams,
    connections: 1,
    lines: [
      [{ name: ours().name, role: 'ours' }, loads.streams],
      [{ name: 'bare node response', role: 'limit' }, loads.bareStreams],
    ],
  },
];

/** With `--ramp`: one room that grows, instead of a search. */
const growing = (ramp: Ramp, objectives: Objective[]): Contender[] =>
  ROOM_SERVERS.map((server) => ({
    ...{ name: server.name, role: server.role, missing: server.missing },
    part: `members of one room, growing from ${ramp.from} to ${ramp.to} in ${ramp.seconds} s`,
    measure: (run) => measureGrowth(server, ramp, objectives, run),
  }));

const searching = parts.flatMap((part) =>
  part.lines.map(
    ([{ name, role, missing }, load]): Contender => ({
      ...{ name, role, missing, part: part.part },
      measure: (run) => measure(part, load, run),
    }),
  ),
);

export const capacity: Scenario = {
  name: 'capacity',
  title:
    'The most that keeps the objectives (--slo): doubled, then bisected; figures are of that size, the wall is of the next one',
  columns: ['carried', 'cpu', 'perSecond', 'lost', 'p50', 'p99', 'p999', 'late', 'databaseCpu', 'clients'],
  heeds: ['members', 'rooms', 'rate', 'streams', 'slo', 'ramp', 'stages'],
  mayLose: true,

  turnSeconds(options) {
    const ramp = rampOf(options);
    if (ramp) return ramp.seconds + options.seconds + TRIAL_SECONDS;
    return TRIALS * (options.seconds + TRIAL_SECONDS);
  },

  contenders(options) {
    const ramp = rampOf(options);
    return ramp ? growing(ramp, objectivesOf(options)) : searching;
  },

  verdicts(results, options) {
    const carried = (part: string, { name }: Server) => medianOf(results, name, 'carried', part);
    const against = (part: string, server: Server) => ratio(carried(part, ours()), carried(part, server));
    const verdicts = [
      atLeast('members of a room, against bare uWebSockets.js', against(IN_A_ROOM, bareUws), 0.7),
      atLeast('members of a room, against Socket.IO on ws', against(IN_A_ROOM, socketIoOnWs()), 1),
      atLeast('messages/s, against the floor', against(MESSAGES, storingUws), 0.3),
      atLeast('messages/s, against the textbook server', against(MESSAGES, textbook), 2),
    ];
    if (options.ramp !== undefined) return notJudged(verdicts, 'with --ramp nothing is searched');
    if (options.slo !== undefined && options.slo !== SLO)
      return notJudged(verdicts, `the bounds are meant for --slo ${SLO}, not ${options.slo}`);
    return verdicts;
  },
};
