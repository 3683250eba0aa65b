import type { Story } from './collect.js';
import { NAMES, text, WIDTH } from './svg.js';

/** Height of the line of times under a plot, px. */
export const AXIS = 24;

/** A longer time in which nothing happens is cut out, ms, but for its edges. */
const CUT_MS = 5_000;
const EDGE_MS = 500;

/** Width of what is left of it, px. */
const CUT_WIDTH = 44;

/** Distances of the marks on the axis, s, and how many there are at most. */
const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
const MARKS = 14;

/** A cut-out time, ms, and its place, px. */
interface Cut {
  from: number;
  to: number;
  at: number;
}

/** The times of a run from left to right; where nothing happens for long, the axis is broken. */
export interface Axis {
  end: number;
  /** The place of a time, px. */
  x(t: number): number;
  /** The place of the end, px. */
  right: number;
  /** Lines at round times with their seconds under the plot, and the breaks. @param height of plot and axis */
  draw(height: number): string[];
}

function timesOf({
  end,
  strikes,
  phases,
  offline,
  sends,
  deliveries,
  catchUps,
  unanswered,
}: Story): number[] {
  return [
    ...[0, end, ...phases.values()],
    ...[...strikes, ...offline].flatMap(({ from, to }) => [from, to]),
    ...[sends, deliveries, catchUps, unanswered].flatMap((moments) => moments.map(({ t }) => t)),
  ]
    .filter((t) => t <= end)
    .sort((a, b) => a - b);
}

/** Times in which nothing happens. @param known further times at which something does */
function silences(story: Story, known: number[]): { from: number; to: number }[] {
  const times = [...timesOf(story), ...known].sort((a, b) => a - b);
  return times.flatMap((t, i) => {
    const next = times[i + 1] ?? t;
    return next - t > CUT_MS ? [{ from: t + EDGE_MS, to: next - EDGE_MS }] : [];
  });
}

/** A line that shows that the axis is broken. */
function zigzag(x: number, height: number): string {
  const turns = Array.from(
    { length: Math.ceil(height / 8) },
    (_, i) => `L${x + (i % 2 === 0 ? 3 : -3)} ${i * 8 + 4}`,
  );
  return `<path d="M${x} 0${turns.join('')}" class="break"/>`;
}

function drawCut({ from, to, at }: Cut, height: number): string[] {
  const seconds = Math.round((to - from) / 1_000);
  const plot = height - AXIS;
  return [
    `<rect x="${at}" y="0" width="${CUT_WIDTH}" height="${plot}" class="cut"><title>${seconds} s in which nothing happened are left out</title></rect>`,
    zigzag(at, plot),
    zigzag(at + CUT_WIDTH, plot),
    text(at + CUT_WIDTH / 2, height - 6, `… ${seconds} s …`, 'tick', 'middle'),
  ];
}

/** @param known times of what is marked beside the story */
export function axisOf(story: Story, known: number[]): Axis {
  const { end } = story;
  const silent = silences(story, known);
  const shown = end - silent.reduce((sum, { from, to }) => sum + to - from, 0);
  const perMs = (WIDTH - NAMES - 10 - silent.length * CUT_WIDTH) / Math.max(1, shown);
  const cuts: Cut[] = [];
  /** What is cut out before a time, ms, is narrower by this, px. */
  let gone = 0;
  for (const { from, to } of silent) {
    cuts.push({ from, to, at: NAMES + from * perMs - gone });
    gone += (to - from) * perMs - CUT_WIDTH;
  }
  function x(time: number): number {
    const t = Math.min(time, end);
    const cut = cuts.findLast(({ from }) => from <= t);
    if (!cut) return NAMES + t * perMs;
    const { from, to, at } = cut;
    if (t < to) return at + ((t - from) / (to - from)) * CUT_WIDTH;
    return at + CUT_WIDTH + (t - to) * perMs;
  }
  function draw(height: number): string[] {
    const step = 1_000 * (STEPS.find((s) => shown / (s * 1_000) <= MARKS) ?? shown / 1_000);
    const lines: string[] = [];
    for (let t = 0; t <= end; t += step) {
      if (cuts.some(({ from, to }) => from <= t && t <= to)) continue;
      lines.push(`<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height - AXIS + 4}" class="grid"/>`);
      const isCrowded = cuts.some(({ at }) => Math.abs(x(t) - at - CUT_WIDTH / 2) < CUT_WIDTH);
      if (!isCrowded) lines.push(text(x(t), height - 6, `${t / 1_000} s`, 'tick', 'middle'));
    }
    return [...lines, ...cuts.flatMap((cut) => drawCut(cut, height))];
  }
  return { end, x, right: x(end), draw };
}
