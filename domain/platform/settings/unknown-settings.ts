/** Finds settings whose names are misspelled. */

/** Letters by which a variable of the environment may differ from a setting to count as meant for it. */
const NEAR = 2;

/** Shortest setting that a variable of the environment is compared with: `HOST` is near to names of other programs. */
const SHORTEST = 7;

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function distance(from: string, to: string): number {
  /** [i][j]: between the first i letters of one and the first j of the other. */
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(
        Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, isSwap ? at(i - 2, j - 2) + 1 : replaced),
      );
    }
  }
  return at(from.length, to.length);
}

/** The setting that is nearest to a name, and how near. */
function nearest(name: string, settings: string[]): { setting: string; by: number } {
  const all = settings.map((setting) => ({ setting, by: distance(name.toUpperCase(), setting) }));
  return all.reduce((best, one) => (one.by < best.by ? one : best));
}

/** A line for each name of `.env` that is no setting, with the one that may be meant. */
export function unknownInFile(names: string[], settings: string[]): string[] {
  return names
    .filter((name) => !settings.includes(name))
    .map((name) => {
      const { setting, by } = nearest(name, settings);
      const hint = by <= Math.max(NEAR, setting.length / 3) ? `; did you mean ${setting}?` : '';
      return `${name}: .env names a variable that does not exist${hint}`;
    });
}

/**
 * A line for each variable of the environment that looks like a misspelled setting. The environment has variables
 * of other programs, too: one counts only if it is near to a setting whose name is long.
 */
export function unknownInEnvironment(names: string[], settings: string[]): string[] {
  const long = settings.filter((setting) => setting.length >= SHORTEST);
  return names
    .filter((name) => !settings.includes(name))
    .map((name) => ({ name, ...nearest(name, long) }))
    .filter(({ by }) => by <= NEAR)
    .map(({ name, setting }) => `${name}: there is no such setting; did you mean ${setting}?`);
}
