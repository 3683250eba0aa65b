export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Widths in px: the picture, and names to its left. */
export const WIDTH = 1_200;
export const NAMES = 130;

export const text = (x: number, y: number, content: string, kind: string, anchor = 'start'): string =>
  `<text x="${x.toFixed(1)}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(content)}</text>`;

/** A rectangle that says what it is when it is pointed at. */
export const box = (x: number, y: number, width: number, height: number, kind: string, title = ''): string =>
  `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, width).toFixed(1)}" height="${height}" class="${kind}">${title ? `<title>${escapeHtml(title)}</title>` : ''}</rect>`;

export const svg = (height: number, body: string[], title: string): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${body.join('')}</svg>`;
