import { escapeHtml } from '../../load/report/plots.js';

/** Widths in px: the picture, and names to its left. */
export const WIDTH = 1_200;
export const NAMES = 130;

/** Height of the line of times under a plot, px. */
export const AXIS = 24;

export const text = (x: number, y: number, content: string, kind: string, anchor = 'start'): string =>
  `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(content)}</text>`;

/** A rectangle that says what it is when it is pointed at. */
export const box = (x: number, y: number, width: number, height: number, kind: string, title = ''): string =>
  `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, width).toFixed(1)}" height="${height}" class="${kind}">${title ? `<title>${escapeHtml(title)}</title>` : ''}</rect>`;

export const svg = (height: number, body: string[], title: string): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${body.join('')}</svg>`;

/** The place of a time. @param end of the run, ms */
export const scale = (end: number) => (t: number) => NAMES + (Math.min(t, end) / end) * (WIDTH - NAMES - 10);

/** Lines at round times, with their seconds under the plot. */
export function timeAxis(end: number, height: number): string[] {
  const x = scale(end);
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600].map((s) => s * 1_000);
  const step = steps.find((ms) => end / ms <= 14) ?? end;
  const lines: string[] = [];
  for (let t = 0; t <= end; t += step) {
    lines.push(`<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height - AXIS + 4}" class="grid"/>`);
    lines.push(text(x(t), height - 6, `${t / 1_000} s`, 'tick', 'middle'));
  }
  return lines;
}
