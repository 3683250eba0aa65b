import { expect } from 'chai';
import type { Engine } from '../../src/commands/engine.js';
import { type Document, decode } from '../../src/values/bson-types.js';
import { buildEngine, runCommand } from '../support/run-command.js';

/** A document, an update of it, and what MongoDB makes of it (a document, or the code of the error), with the source. */
export type Probe = [before: Document, update: Document, after: Document | number, source: string];

/** Runs each update on a document of its own. */
export async function probe(probes: Probe[]): Promise<void> {
  const engine = buildEngine();
  for (const [i, [before, update, expected, source]] of probes.entries()) {
    const name = `c${i}`;
    const label = `${JSON.stringify(before)} ${JSON.stringify(update)} (${source})`;
    await runCommand(engine, { insert: name, documents: [{ _id: 1, ...before }] });
    const reply = await runCommand(engine, { update: name, updates: [{ q: { _id: 1 }, u: update }] });
    const [after] = await documentsIn(engine, name);
    if (typeof expected === 'number') {
      expect((reply.writeErrors as Document[] | undefined)?.[0]?.code, label).to.equal(expected);
      expect(after, label).to.deep.equal((await stored(before))[0]);
    } else {
      expect(reply.writeErrors, label).to.equal(undefined);
      expect(after, label).to.deep.equal((await stored(expected))[0]);
      expect(Object.keys(after ?? {}), label).to.deep.equal(['_id', ...Object.keys(expected)]);
      const changed = JSON.stringify(after) !== JSON.stringify((await stored(before))[0]);
      expect(reply.nModified, label).to.equal(changed ? 1 : 0);
    }
  }
  await engine.close();
}

/** A document as it reads after being stored, so that number types compare. */
async function stored(document: Document): Promise<Document[]> {
  const engine = buildEngine();
  await runCommand(engine, { insert: 'c', documents: [{ _id: 1, ...document }] });
  return documentsIn(engine, 'c');
}

/** The documents of a collection with their number types. */
async function documentsIn(engine: Engine, name: string): Promise<Document[]> {
  const { cursor } = await runCommand(engine, { find: name }, 'test', decode);
  return (cursor as { firstBatch: Document[] }).firstBatch;
}
