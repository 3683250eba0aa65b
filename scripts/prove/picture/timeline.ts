import type { Verdict } from '../check/judge.js';
import { AXIS, type Axis } from './axis.js';
import type { Moment, Story } from './collect.js';
import { box, NAMES, svg, text } from './svg.js';

/** Heights in px: of a fault's row, of the counts, and of a member's row. */
const FAULT = 20;
const COUNTS = 70;
const MEMBER = 13;

/** A message that takes longer to be acknowledged or delivered counts as late, ms. */
export const LATE_MS = 1_000;

/** Columns of the counts. */
const COLUMNS = 180;

/** Width of a letter in a bar, px. */
const LETTER = 6.5;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A row of bars for each kind of fault. @returns the rows, and their height */
function faultRows({ strikes, end }: Story, { x }: Axis): { rows: string[]; height: number } {
  const kinds = [...new Set(strikes.map(({ fault }) => fault))];
  const rows = kinds.flatMap((kind, i) => [
    text(NAMES - 8, i * FAULT + 14, kind, 'name', 'end'),
    ...strikes
      .filter(({ fault }) => fault === kind)
      .flatMap(({ fault, target, from, to }) => {
        const [left, width] = [x(from), x(to) - x(from)];
        const title = `${fault} of ${target}: ${seconds(from)} to ${to > end ? 'the end' : seconds(to)}`;
        const bar = box(left, i * FAULT + 4, width, FAULT - 7, 'fault', title);
        return target.length * LETTER < width
          ? [bar, text(left + 3, i * FAULT + 14, target, 'target')]
          : [bar];
      }),
  ]);
  return { rows, height: kinds.length * FAULT };
}

/** Pale bands behind everything while a fault lasts. */
export function faultBands({ strikes }: Story, { x }: Axis, height: number): string[] {
  return strikes.map(({ from, to }) => box(x(from), 0, x(to) - x(from), height, 'band'));
}

/** Moments by column. */
function columnsOf(moments: Moment[], { x, right }: Axis): Moment[][] {
  const columns: Moment[][] = Array.from({ length: COLUMNS }, () => []);
  for (const moment of moments) {
    const column = Math.floor(((x(moment.t) - NAMES) / (right - NAMES)) * COLUMNS);
    columns[Math.min(COLUMNS - 1, column)]?.push(moment);
  }
  return columns;
}

/** How much was sent, delivered and caught up at each time, one above the other. */
function counts(story: Story, axis: Axis, top: number): string[] {
  const kinds = [
    ['acknowledged', story.sends, 'ours'],
    ['delivered', story.deliveries, 'limit'],
    ['caught up', story.catchUps, 'caught'],
  ] as const;
  const width = (axis.right - NAMES) / COLUMNS;
  const height = COUNTS / kinds.length;
  return kinds.flatMap(([name, moments, kind], row) => {
    const columns = columnsOf(moments, axis);
    const most = Math.max(1, ...columns.map(({ length }) => length));
    const bottom = top + (row + 1) * height;
    return [
      text(NAMES - 8, bottom - 6, name, 'name', 'end'),
      ...columns.map((column, i) => {
        const [first] = column;
        if (!first) return '';
        const size = (column.length / most) * (height - 4);
        const title = `${column.length} ${name} from ${seconds(first.t)} on`;
        return box(NAMES + i * width, Math.round(bottom - size), width - 1, Math.round(size), kind, title);
      }),
    ];
  });
}

/** One mark per kind and pixel is enough to be seen. */
function marks(moments: Moment[], { x }: Axis, draw: (x: number, moment: Moment) => string): string {
  const seen = new Set<string>();
  return moments
    .map((moment) => {
      const at = Math.round(x(moment.t));
      const key = `${moment.member} ${at}`;
      if (seen.has(key)) return '';
      seen.add(key);
      return draw(at, moment);
    })
    .join('');
}

/** A row for each member: what they sent and received, when they had no connection, what was late or unanswered. */
function memberRows(story: Story, axis: Axis, top: number): string[] {
  const { members, offline, sends, deliveries, catchUps, unanswered } = story;
  const { x } = axis;
  const rows = new Map(members.map(({ no }, i) => [no, top + i * MEMBER]));
  const y = ({ member }: { member: number }) => rows.get(member) ?? top;
  const isLate = ({ took }: Moment) => took > LATE_MS;
  const mark = (width: number, from: number, height: number, kind: string) => (at: number, one: Moment) =>
    `<rect x="${at}" y="${y(one) + from}" width="${width}" height="${height}" class="${kind}"/>`;
  const late = [...sends, ...deliveries].filter(isLate);
  return [
    ...members.map((one) => text(NAMES - 8, (rows.get(one.no) ?? 0) + 10, one.nickname, 'tick', 'end')),
    ...offline.map((one) =>
      box(
        x(one.from),
        y(one) + 1,
        x(one.to) - x(one.from),
        MEMBER - 2,
        'offline',
        `no connection: ${seconds(one.from)} to ${seconds(one.to)}`,
      ),
    ),
    marks(deliveries, axis, mark(1, 7, 4, 'limit')),
    marks(sends, axis, mark(2, 2, 4, 'ours')),
    marks(
      catchUps,
      axis,
      (at, one) =>
        `<path d="M${at - 3} ${y(one) + 11}l3 -8l3 8z" class="caught"><title>caught up in ${Math.round(one.took)} ms</title></path>`,
    ),
    marks(
      late,
      axis,
      (at, one) =>
        `<circle cx="${at}" cy="${y(one) + 6}" r="2.5" class="late"><title>took ${seconds(one.took)}, until ${seconds(one.t)}</title></circle>`,
    ),
    marks(
      unanswered,
      axis,
      (at, one) =>
        `<path d="M${at - 2} ${y(one) + 4}l4 4m0 -4l-4 4" class="cross"><title>no answer after ${seconds(one.took)}</title></path>`,
    ),
  ];
}

/** Where promises were broken. */
function violations(verdict: Verdict, { x }: Axis, height: number): string[] {
  return verdict.violations.map(({ t, rule, text: what }) =>
    box(x(t) - 1, 0, 2, height, 'violation', `${seconds(t)} ${rule}: ${what}`),
  );
}

const PHASES: Record<string, string> = { quiet: 'nothing is sent any more', final: 'everything is read' };

/** Faults, what was sent and received, and what became of each member, over the time of the run. */
export function timeline(story: Story, verdict: Verdict, axis: Axis): string {
  const { rows, height: faults } = faultRows(story, axis);
  const members = faults + COUNTS + 18;
  const height = members + story.members.length * MEMBER + AXIS;
  const plot = height - AXIS;
  const phases = Object.entries(PHASES).flatMap(([phase, label]) => {
    const t = story.phases.get(phase);
    if (t === undefined) return [];
    const at = axis.x(t);
    // Each to its side: nothing happens between them, and they are close to each other.
    const [side, anchor] = phase === 'quiet' ? [-4, 'end'] : [4, 'start'];
    return [
      `<line x1="${at}" x2="${at}" y1="0" y2="${plot}" class="phase"/>`,
      text(at + side, members - 6, label, 'tick', anchor),
    ];
  });
  return svg(
    height,
    [
      ...axis.draw(height),
      ...faultBands(story, axis, plot),
      ...rows,
      ...counts(story, axis, faults + 4),
      ...memberRows(story, axis, members),
      ...phases,
      ...violations(verdict, axis, plot),
    ],
    'what happened, over time',
  );
}
