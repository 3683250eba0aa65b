import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../domain/platform/config.js';
import { metrics } from '../../domain/platform/metrics.js';
import { projectRoot } from '../../domain/platform/project-root.js';

const root = projectRoot();
const text = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');

/** Every match of an expression's first group, once. */
function all(expression: RegExp): string[] {
  return [...new Set([...text.matchAll(expression)].map(([, found]) => found as string))];
}

describe('docs/operations.md', () => {
  it('explains every metric of ours, and no other', () => {
    const documented = all(/^\| `([a-z_]+)` \| (?:gauge|counter|histogram)/gm);
    const ours = Object.values(metrics).map((metric) => (metric as unknown as { name: string }).name);
    expect(documented.sort()).to.deep.equal(ours.sort());
  });

  it('names tests and files that exist', () => {
    const tests = all(/dist\/(test\/[\w/.-]+)\.test\.js/g).map((path) => `${path}.test.ts`);
    const files = all(/`((?:deploy|docs)\/[\w.-]+)`/g);
    expect(tests.length).to.be.greaterThan(3);
    expect(files.length).to.be.greaterThan(3);
    expect([...tests, ...files].filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('names commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(all(/npm run (?:--silent )?([a-z]+)/g).filter((name) => !(name in scripts))).to.deep.equal([]);
  });

  it('gives the settings of a stop that the code has', () => {
    const { DRAIN_WINDOW_MS, HTTP_INSTANCES, GATEWAY_INSTANCES } = loadConfig({}, '/nonexistent');
    expect(text).to.include(`| \`DRAIN_WINDOW_MS\` | ${DRAIN_WINDOW_MS.toLocaleString('en-US')};`);
    expect(text).to.include(`\`HTTP_INSTANCES\`, ${HTTP_INSTANCES}`);
    expect(text).to.include(`\`GATEWAY_INSTANCES\`, ${GATEWAY_INSTANCES}`);
  });
});
