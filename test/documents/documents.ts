import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../domain/platform/process/project-root.js';

const root = projectRoot();

/** A file of the project, by its path from the root. */
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every file under a folder, by its path from the root. */
export function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(root, path)).isFile());
}

/** Every page that people read, by its path from the root. */
export const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'SECURITY.md',
  'gateway/PROTOCOL.md',
  'packages/embedded-mongo/README.md',
  'packages/embedded-mongo/CHANGELOG.md',
  ...filesUnder('docs').filter((path) => path.endsWith('.md')),
];

/** Templates that operators start from, by path. */
export const operatorFiles = [
  '.env.example',
  'ecosystem.config.js',
  ...filesUnder('deploy').filter((path) => !path.endsWith('dockerignore')),
];

/** A match of an expression, and its file. */
export interface Mention {
  path: string;
  found: string;
}

/** Every match of an expression's first group, in these files. */
export function mentionsOf(expression: RegExp, paths: string[] = pages): Mention[] {
  return paths.flatMap((path) =>
    [...textOf(path).matchAll(expression)].map(([, found = '']) => ({ path, found })),
  );
}

/** The mentions that break a rule, as `path: text`. */
export function wrong(mentions: Mention[], isRight: (mention: Mention) => boolean): string[] {
  return mentions.filter((one) => !isRight(one)).map(({ path, found }) => `${path}: ${found}`);
}

/** The cells of a table's rows, by the table's head. */
export function tableOf(path: string, head: string): string[][] {
  const [, behind] = textOf(path).split(`${head}\n`);
  if (behind === undefined) throw new Error(`${path} has no table ${head}`);
  const lines = behind.split('\n');
  return lines.slice(1, lines.indexOf('')).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The numbers of the contract's promises. */
export const promises = mentionsOf(/^(\d+)\. (?!\[)/gm, ['docs/contract.md']).map(({ found }) => found);
