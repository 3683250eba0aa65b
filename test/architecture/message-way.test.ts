import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { engineName } from '../support/engine.js';

const MOST_FILES = 12;
const MOST_RETURNS = 2;

const textOf = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');

const section =
  textOf('ARCHITECTURE.md')
    .split('\n## ')
    .find((text) => text.startsWith('The way of a sent message')) ?? '';
/** The steps of the way, in order; a file comes again where control returns to it. */
const steps = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path as string);
const files = [...new Set(steps)];

/** The files that the paragraph with this beginning names. */
const namedAfter = (beginning: string) =>
  [...(section.split(`\n${beginning}`)[1]?.split('\n\n')[0] ?? '').matchAll(/`([^`]+\.ts)`/g)].map(
    ([, path]) => path as string,
  );
/** What the way calls in the kernel and the platform. */
const called = namedAfter('These use');
/** What connects files of the way, and runs nothing for a message. */
const connecting = namedAfter('Not counted');

/** Interfaces by which one file of the way calls another, each with the file that implements it. */
const PORTS = new Map([
  ['domain/kernel/live.ts', 'gateway/socket-live.ts'],
  ['domain/chat/presence.ts', 'domain/chat/presence.memory.ts'],
  ['gateway/engine/engine.ts', 'gateway/engine/engine.uws.ts'],
]);
/** Gives connections the listener of `handle.ts`, and that the events. */
const LISTENERS = 'gateway/connection/connection.ts';

/** The files that a file imports, types included; what has its functions bound (`f.bind`), those alone. */
function importsOf(path: string): string[] {
  const text = textOf(path);
  const all = [...text.matchAll(/(?:import|export) ([^;]*?) from '(\.[^']+)\.js'/g)].map(
    ([, names, specifier]) => ({
      names: (names as string).match(/\w+/g) ?? [],
      imported: `${posix.join(posix.dirname(path), specifier as string)}.ts`,
    }),
  );
  const bound = all.filter(({ names }) => names.some((name) => text.includes(`${name}.bind(`)));
  return (bound.length > 0 ? bound : all).map(({ imported }) => imported);
}

/** Whether a file calls another as far as imports show it, over files of `by` or directly. */
function areLinked(from: string, to: string, by: string[]): boolean {
  if (calls(from, to, by)) return true;
  return by.includes(LISTENERS) && [from, to].every((path) => calls(LISTENERS, path, by));
}

function calls(from: string, to: string, by: string[]): boolean {
  return leadsTo(from, to, by) || importsOf(from).some((path) => by.includes(path) && PORTS.get(path) === to);
}

function leadsTo(from: string, to: string, by: string[]): boolean {
  return importsOf(from).some(
    (path) => path === to || (by.includes(path) && !PORTS.has(path) && leadsTo(path, to, by)),
  );
}

/** The files that none before them is linked to. */
const unlinked = (way: string[], by: string[]) =>
  way.filter((path, i) => i > 0 && !way.slice(0, i).some((before) => areLinked(before, path, by)));

const isRun = (await engineName) === 'uws';

describe('the way of a sent message, as ARCHITECTURE.md lists it,', () => {
  it(`has at most ${MOST_FILES} files, and returns to them at most ${MOST_RETURNS} times`, () => {
    expect(files).not.to.have.length(0);
    expect(files).to.have.length.at.most(MOST_FILES);
    expect(steps.length - files.length).to.be.at.most(MOST_RETURNS);
    expect(section).to.include(`${files.length} files, and ${steps.length - files.length} returns`);
  });

  it('goes to each file from one before it: by import, or by the named files that connect them', () => {
    expect(unlinked(files, connecting)).to.deep.equal([]);
  });

  it('names no connecting file that connects nothing', () => {
    for (const path of connecting) {
      const others = connecting.filter((other) => other !== path);
      expect(unlinked(files, others), path).not.to.deep.equal([]);
    }
  });

  // Of the way on the other engine, one file differs.
  (isRun ? it : () => {})('names every file whose functions are called, and no other', async () => {
    const script = join(projectRoot(), 'dist', 'test', 'architecture', 'run-message-way.js');
    // Coverage of the whole run, if it is measured, is not that of this process.
    const env = { ...process.env, NODE_V8_COVERAGE: undefined };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
    expect(JSON.parse(stdout)).to.have.members([...files, ...called]);
  });
});
