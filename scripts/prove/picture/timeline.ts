import type { Verdict } from '../check/judge.js';
import type { Moment, Story } from './collect.js';
import { box, NAMES, svg, text, WIDTH } from './svg.js';

/** Heights in px: of a fault's row, of a member's row, and of the line of times below. */
const FAULT = 20;
const MEMBER = 13;
const AXIS = 24;

/** A message that takes longer to be acknowledged or delivered counts as late, ms. */
export const LATE_MS = 1_000;

/** Most round times on the axis, and their distances, s. */
const MARKS = 14;
const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];

/** The place of a time, px. */
type X = (t: number) => number;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Lines at round times, with their seconds below the plot. */
function axis(end: number, x: X, height: number): string[] {
  const step = 1_000 * (STEPS.find((s) => end / (s * 1_000) <= MARKS) ?? end / 1_000);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step).flatMap((t) => [
    `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height - AXIS + 4}" class="grid"/>`,
    text(x(t), height - 6, `${t / 1_000} s`, 'tick', 'middle'),
  ]);
}

/** A row of bars for each kind of fault, with a pale band over the whole height. */
function faultRows({ strikes, end }: Story, x: X, plot: number): string[] {
  const kinds = kindsOf(strikes);
  return [
    ...kinds.map((kind, i) => text(NAMES - 8, i * FAULT + 14, kind, 'name', 'end')),
    ...strikes.flatMap(({ fault, target, from, to }) => {
      const [left, width] = [x(from), x(to) - x(from)];
      const title = `${fault} of ${target}: ${seconds(from)} to ${to > end ? 'the end' : seconds(to)}`;
      const top = kinds.indexOf(fault) * FAULT + 4;
      return [box(left, 0, width, plot, 'band'), box(left, top, width, FAULT - 7, 'fault', title)];
    }),
  ];
}

const kindsOf = (strikes: Story['strikes']): string[] => [...new Set(strikes.map(({ fault }) => fault))];

/** One mark per member and pixel is enough to be seen. */
function marks(moments: Moment[], x: X, draw: (x: number, moment: Moment) => string): string {
  const seen = new Map(moments.map((moment) => [`${moment.member} ${Math.round(x(moment.t))}`, moment]));
  return [...seen.values()].map((moment) => draw(Math.round(x(moment.t)), moment)).join('');
}

/** A row for each member: what they sent and received, when they had no connection, what was late or unanswered. */
function memberRows({ members, offline, sends, deliveries, unanswered }: Story, x: X, top: number): string[] {
  const rows = new Map(members.map(({ no }, i) => [no, top + i * MEMBER]));
  const y = ({ member }: { member: number }) => rows.get(member) ?? top;
  const mark = (width: number, from: number, kind: string) => (at: number, one: Moment) =>
    `<rect x="${at}" y="${y(one) + from}" width="${width}" height="4" class="${kind}"/>`;
  const late = [...sends, ...deliveries].filter(({ took }) => took > LATE_MS);
  return [
    ...members.map((one) => text(NAMES - 8, (rows.get(one.no) ?? 0) + 10, one.nickname, 'tick', 'end')),
    ...offline.map((one) => {
      const title = `no connection: ${seconds(one.from)} to ${seconds(one.to)}`;
      return box(x(one.from), y(one) + 1, x(one.to) - x(one.from), MEMBER - 2, 'offline', title);
    }),
    marks(deliveries, x, mark(1, 7, 'limit')),
    marks(sends, x, mark(2, 2, 'ours')),
    marks(late, x, (at, one) => {
      const title = `<title>took ${seconds(one.took)}, until ${seconds(one.t)}</title>`;
      return `<circle cx="${at}" cy="${y(one) + 6}" r="2.5" class="late">${title}</circle>`;
    }),
    marks(unanswered, x, (at, one) => {
      const title = `<title>no answer after ${seconds(one.took)}</title>`;
      return `<path d="M${at - 2} ${y(one) + 4}l4 4m0 -4l-4 4" class="cross">${title}</path>`;
    }),
  ];
}

const PHASES: Record<string, string> = { quiet: 'nothing is sent any more', final: 'everything is read' };

/** Where the traffic ends, and where the last reads begin. */
function phaseLines({ phases }: Story, x: X, plot: number, y: number): string[] {
  return Object.entries(PHASES).flatMap(([phase, label]) => {
    const t = phases.get(phase);
    if (t === undefined) return [];
    // Each to its side: they may be close to each other.
    const [side, anchor] = phase === 'quiet' ? [-4, 'end'] : [4, 'start'];
    const line = `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${plot}" class="phase"/>`;
    return [line, text(x(t) + side, y, label, 'tick', anchor)];
  });
}

/** Faults, what was sent and received, what became of each member, and broken promises, over the time of the run. */
export function timeline(story: Story, { violations }: Verdict): string {
  const { end } = story;
  const x = (t: number) => NAMES + (Math.min(t, end) / Math.max(1, end)) * (WIDTH - NAMES - 10);
  const members = kindsOf(story.strikes).length * FAULT + 18;
  const plot = members + story.members.length * MEMBER;
  const body = [
    ...axis(end, x, plot + AXIS),
    ...faultRows(story, x, plot),
    ...memberRows(story, x, members),
    ...phaseLines(story, x, plot, members - 6),
    ...violations.map(({ t, rule, text: what }) =>
      box(x(t) - 1, 0, 2, plot, 'violation', `${seconds(t)} ${rule}: ${what}`),
    ),
  ];
  return svg(plot + AXIS, body, 'what happened, over time');
}
