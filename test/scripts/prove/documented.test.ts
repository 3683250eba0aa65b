import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { excluded, operations } from '../../../scripts/prove/check/facts/documented.js';
import { demandRows } from './demands-table.js';

const document = (name: string) => JSON.parse(readFileSync(join(projectRoot(), 'docs', 'api', name), 'utf8'));

/** The operations that the published documents name, as the checker counts them. */
function named(): string[] {
  const paths: Record<string, unknown>[] = Object.values(document('openapi.json').paths);
  const rest = paths.flatMap((path) =>
    Object.values(path).flatMap((one) => (one as { operationId?: string }).operationId ?? []),
  );
  const sockets = Object.keys(document('asyncapi.json').operations);
  return [...rest, ...sockets];
}

describe('what npm run prove demands of a run', () => {
  it('is every operation of the documents, but those that are excluded with a reason', () => {
    const counted = [...Object.keys(operations), ...Object.keys(excluded)];
    expect(named()).to.have.members(counted);
    for (const reason of Object.values(excluded)) expect(reason).to.match(/\w+ \w+/);
  });

  it('is what docs/consistency.md lists, with the least numbers', () => {
    const text = readFileSync(join(projectRoot(), 'docs', 'consistency.md'), 'utf8');
    const [, table = ''] = /\| reached by a run \| at least \| in \|\n\|.*\n((?:\|.*\n)+)/.exec(text) ?? [];
    expect(table.trimEnd().split('\n')).to.deep.equal(demandRows());
  });
});
