import { filesUnder, textOf } from './documents.js';

/** A row of docs/faults.md. */
interface Fault {
  number: string;
  /** The promise at stake, or a dash. */
  promise: string;
}

export const faults: Fault[] = textOf('docs/faults.md')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  .map(([number = '', , , promise = '']) => ({ number, promise }));

/** A test of faults: the rows of docs/faults.md in its title, `12, 13: closes …`. */
export interface FaultTest {
  faults: string[];
  path: string;
  /** As written, after the numbers; `…` in the place of what varies between runs of the test. */
  title: string;
  /** Whether a test that has run, by its whole title, is this one. */
  isTitled(title: string): boolean;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Every test of faults, by its first number. */
export const faultTests: FaultTest[] = [...filesUnder('test'), ...filesUnder('packages/embedded-mongo/test')]
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) =>
    [...textOf(path).matchAll(/\bit\(\s*(['"`])(\d+(?:, \d+)*): ((?:\\.|(?!\1).)+)\1/g)].map(
      ([, , numbers = '', written = '']) => {
        const parts = written.replaceAll('\\', '').split(/\$\{.*?\}/);
        const pattern = new RegExp(`^${numbers}: ${parts.map(escaped).join('.+')}$`);
        return {
          faults: numbers.split(', '),
          path,
          title: parts.join('…'),
          isTitled: (title: string) => pattern.test(title),
        };
      },
    ),
  )
  .sort((a, b) => Number(a.faults[0]) - Number(b.faults[0]) || a.path.localeCompare(b.path));
