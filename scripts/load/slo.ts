import { type Figures, isLatency, type Metric } from './metrics.js';

/** What may be asked of a load, by its names in `--slo`. */
const MEASURED: Record<string, Metric> = {
  p50: 'p50',
  p99: 'p99',
  'p99.9': 'p999',
  lost: 'lost',
  refused: 'refused',
};

/** ms. */
const UNITS: Record<string, number> = { ms: 1, s: 1_000 };

/** An objective: a figure that must stay below a bound, or not exceed it. */
export interface Objective {
  /** As written. */
  text: string;
  metric: Metric;
  /** ms of a latency, or a count. */
  bound: number;
  /** Whether the bound itself is too much. */
  below: boolean;
}

const FORM = /^([a-z0-9.]+)(<=|<|=)(\d+(?:\.\d+)?)([a-z]*)$/;

/** @returns the objective, or what is wrong with it */
function parseObjective(text: string): Objective | string {
  const [, name = '', comparison, number, unit = ''] = FORM.exec(text) ?? [];
  if (comparison === undefined) return `"${text}" is not of the form p99<200ms or lost=0`;
  const metric = Object.hasOwn(MEASURED, name) ? MEASURED[name] : undefined;
  if (!metric) return `"${text}": ${name} is none of ${Object.keys(MEASURED).join(', ')}`;
  const bound = Number(number);
  const below = comparison === '<';
  if (!isLatency(metric)) {
    if (unit) return `"${text}": ${name} is a number without a unit`;
    return { text, metric, bound, below };
  }
  if (comparison === '=') return `"${text}": a latency needs < or <=`;
  const scale = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (scale === undefined) return `"${text}": a latency needs ${Object.keys(UNITS).join(' or ')}`;
  return { text, metric, bound: bound * scale, below };
}

/** Parses `p99<200ms,lost=0`. A count that must equal a bound must not exceed it. @returns what is wrong otherwise */
export function parseSlo(text: string): Objective[] | string {
  const objectives: Objective[] = [];
  for (const part of text.split(',')) {
    const objective = parseObjective(part.trim());
    if (typeof objective === 'string') return objective;
    objectives.push(objective);
  }
  return objectives;
}

/** The objectives that figures miss; a figure that there is none of misses its own, but nothing refused is 0. */
export function missedOf(objectives: Objective[], figures: Figures): Objective[] {
  return objectives.filter(({ metric, bound, below }) => {
    const value = figures[metric] ?? (metric === 'refused' ? 0 : undefined);
    return value === undefined || (below ? value >= bound : value > bound);
  });
}
