/** Connections that grow steadily. */
export interface Ramp {
  /** How many there are at the start, and at the end. */
  from: number;
  to: number;
  seconds: number;
}

const FORM = /^(\d+(?:\.\d+)?k?):(\d+(?:\.\d+)?k?):(\d+(?:\.\d+)?)(ms|s|m)$/;

/** s. */
const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60 };

const countOf = (text: string) => Math.round(Number.parseFloat(text) * (text.endsWith('k') ? 1_000 : 1));

/** Parses `0:5k:60s`. @returns what is wrong otherwise */
export function parseRamp(text: string): Ramp | string {
  const [, first, last, time, unit = ''] = FORM.exec(text) ?? [];
  if (first === undefined || last === undefined)
    return 'must be of the form 0:5k:60s (from, to, time in ms, s or m)';
  const ramp = { from: countOf(first), to: countOf(last), seconds: Number(time) * (UNITS[unit] ?? 1) };
  if (ramp.to <= ramp.from) return 'must grow: the second number must be above the first';
  if (ramp.seconds <= 0) return 'must take some time';
  return ramp;
}

/** How many connections there are after some seconds. */
export function sizeAt({ from, to, seconds }: Ramp, elapsed: number): number {
  return Math.round(from + (to - from) * Math.min(1, Math.max(0, elapsed / seconds)));
}
