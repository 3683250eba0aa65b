const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Code units before a cut that are looked at for the grapheme it falls into; longer ones are cut. */
const LOOKED_AT = 100;

/** The length of a well-formed text in code points, as all limits of text count. (contract, section 2) */
export function codePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF]/g)?.length ?? 0);
}

/** @returns length of the first `points` code points of a text, in code units */
function unitsOf(text: string, points: number): number {
  let units = 0;
  for (let i = 0; i < points && units < text.length; i += 1)
    units += (text.codePointAt(units) as number) > 0xffff ? 2 : 1;
  return units;
}

/** Shortens a text to a number of code points; a longer one is cut between two graphemes and ends with `…`. */
export function shortened(text: string, max: number): string {
  if (unitsOf(text, max) === text.length) return text;
  const end = unitsOf(text, max - 1);
  const from = Math.max(0, end - LOOKED_AT);
  const { index = 0 } = graphemes.segment(text.slice(from, end + 2)).containing(end - from) ?? {};
  return `${text.slice(0, index === 0 ? end : from + index)}…`;
}
