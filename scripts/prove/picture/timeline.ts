import type { Verdict } from '../check/judge.js';
import type { Moment, Story } from './collect.js';
import { AXIS, box, NAMES, scale, svg, text, timeAxis, WIDTH } from './svg.js';

/** Heights in px: of a fault's row, of the counts, and of a member's row. */
const FAULT = 20;
const COUNTS = 70;
const MEMBER = 13;

/** A message that takes longer to be acknowledged or delivered counts as late, ms. */
export const LATE_MS = 1_000;

/** Columns of the counts. */
const COLUMNS = 180;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A row of bars for each kind of fault. @returns the rows, and their height */
function faultRows({ strikes, end }: Story): { rows: string[]; height: number } {
  const x = scale(end);
  const kinds = [...new Set(strikes.map(({ fault }) => fault))];
  const rows = kinds.flatMap((kind, i) => [
    text(NAMES - 8, i * FAULT + 14, kind, 'name', 'end'),
    ...strikes
      .filter(({ fault }) => fault === kind)
      .map(({ fault, target, from, to }) => {
        const until = Math.min(to, end);
        const title = `${fault} of ${target}: ${seconds(from)} to ${to > end ? 'the end' : seconds(to)}`;
        return box(x(from), i * FAULT + 4, x(until) - x(from), FAULT - 7, 'fault', title);
      }),
  ]);
  return { rows, height: kinds.length * FAULT };
}

/** Pale bands behind everything while a fault lasts. */
export function faultBands({ strikes, end }: Story, from: number, height: number): string[] {
  const x = scale(end);
  return strikes.map((one) => box(x(one.from), from, x(Math.min(one.to, end)) - x(one.from), height, 'band'));
}

/** Moments per column. */
function countsOf(moments: Moment[], end: number): number[] {
  const counts = new Array<number>(COLUMNS).fill(0);
  for (const { t } of moments) {
    const column = Math.min(COLUMNS - 1, Math.floor((t / end) * COLUMNS));
    counts[column] = (counts[column] ?? 0) + 1;
  }
  return counts;
}

/** How much was sent, delivered and caught up at each time, one above the other. */
function counts(story: Story, top: number): string[] {
  const { end, sends, deliveries, catchUps } = story;
  const x = scale(end);
  const kinds = [
    ['acknowledged', countsOf(sends, end), 'ours'],
    ['delivered', countsOf(deliveries, end), 'limit'],
    ['caught up', countsOf(catchUps, end), 'peer'],
  ] as const;
  return kinds.flatMap(([name, values, kind], row) => {
    const most = Math.max(1, ...values);
    const height = COUNTS / kinds.length;
    const bottom = top + (row + 1) * height;
    return [
      text(NAMES - 8, bottom - 6, name, 'name', 'end'),
      ...values.map((value, i) => {
        const size = (value / most) * (height - 4);
        if (value === 0) return '';
        const from = (i / COLUMNS) * end;
        return `<rect x="${x(from).toFixed(1)}" y="${(bottom - size).toFixed(1)}" width="${((WIDTH - NAMES) / COLUMNS - 1).toFixed(1)}" height="${size.toFixed(1)}" class="${kind}"><title>${value} ${name} around ${seconds(from)}</title></rect>`;
      }),
    ];
  });
}

/** One mark per kind and pixel is enough to be seen. */
function marks(moments: Moment[], end: number, draw: (x: number, moment: Moment) => string): string {
  const x = scale(end);
  const seen = new Set<string>();
  return moments
    .filter(({ t, member }) => {
      const key = `${member} ${Math.round(x(t))}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .map((moment) => draw(Math.round(x(moment.t)), moment))
    .join('');
}

/** A row for each member: what they sent and received, when they had no connection, what was late or unanswered. */
function memberRows(story: Story, top: number): string[] {
  const { members, end, offline, sends, deliveries, catchUps, unanswered } = story;
  const rows = new Map(members.map(({ no }, i) => [no, top + i * MEMBER]));
  const y = ({ member }: { member: number }) => rows.get(member) ?? top;
  const x = scale(end);
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
    marks(deliveries, end, mark(1, 7, 4, 'limit')),
    marks(sends, end, mark(2, 2, 4, 'ours')),
    marks(
      catchUps,
      end,
      (at, one) =>
        `<path d="M${at - 3} ${y(one) + 11}l3 -8l3 8z" class="peer"><title>caught up in ${Math.round(one.took)} ms</title></path>`,
    ),
    marks(
      late,
      end,
      (at, one) =>
        `<circle cx="${at}" cy="${y(one) + 6}" r="2.5" class="lost"><title>${seconds(one.took)} late at ${seconds(one.t)}</title></circle>`,
    ),
    marks(
      unanswered,
      end,
      (at, one) =>
        `<path d="M${at - 2} ${y(one) + 4}l4 4m0 -4l-4 4" class="cross"><title>no answer after ${seconds(one.took)}</title></path>`,
    ),
  ];
}

/** Where promises were broken. */
function violations(verdict: Verdict, end: number, height: number): string[] {
  const x = scale(end);
  return verdict.violations.map(
    ({ t, rule, text: what }) =>
      `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height}" class="violation"><title>${seconds(t)} ${rule}: ${what.replace(/[&<>]/g, ' ')}</title></line>`,
  );
}

/** Faults, what was sent and received, and what became of each member, over the time of the run. */
export function timeline(story: Story, verdict: Verdict): string {
  const { rows, height: faults } = faultRows(story);
  const members = faults + COUNTS + 18;
  const height = members + story.members.length * MEMBER + AXIS;
  const { end } = story;
  const x = scale(end);
  const phases = ['quiet', 'final'].flatMap((phase) => {
    const t = story.phases.get(phase);
    if (t === undefined) return [];
    const label = phase === 'quiet' ? 'nothing is sent any more' : 'everything is read';
    return [
      `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height - AXIS}" class="phase"/>`,
      t > end * 0.85
        ? text(x(t) - 4, members - 6, label, 'tick', 'end')
        : text(x(t) + 4, members - 6, label, 'tick'),
    ];
  });
  return svg(
    height,
    [
      ...timeAxis(end, height),
      ...faultBands(story, 0, height - AXIS),
      ...rows,
      ...counts(story, faults + 4),
      ...memberRows(story, members),
      ...phases,
      ...violations(verdict, end, height - AXIS),
    ],
    'what happened, over time',
  );
}
