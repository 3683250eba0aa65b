import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { importFile } from '../../../scripts/import/import-file.js';
import { row } from '../../../scripts/import/row.schema.js';
import { inspectFile, UnreadableFile } from '../../../scripts/import/source.js';
import { printed } from '../../support/output.js';
import { service, stopService } from '../../support/service.js';
import { takeErrors } from '../../support/unexpected-errors.js';
import { type Door, expectNoScans } from './door.js';
import { damaged, jsonOf, near, type Schema } from './values.js';

interface File {
  ending: string;
  text: string;
  /** Rows in it, if nothing is damaged. */
  rows: number | undefined;
}

const known = { record: ['member', 'adoption'], author: ['author@example.org'], id: [1, 2] };
const value = near(z.toJSONSchema(row, { unrepresentable: 'any' }) as Schema, { known });
const rows = fc.array(value, { maxLength: 5 });

/** A value as a cell: quoted, each quote doubled. */
const cell = (one: unknown) =>
  `"${(typeof one === 'string' ? one : (JSON.stringify(one) ?? '')).replaceAll('"', '""')}"`;

function csvOf(list: unknown[]): string {
  const all = list.map(
    (one) => (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>,
  );
  const names = [...new Set(['record', ...all.flatMap(Object.keys)])];
  return [names, ...all.map((one) => names.map((name) => one[name] ?? ''))]
    .map((cells) => cells.map(cell).join(','))
    .join('\n');
}

const file: fc.Arbitrary<File> = fc.oneof(
  rows.map((list) => ({ ending: 'json', text: JSON.stringify(list), rows: list.length })),
  fc
    .array(
      value.map((one) => JSON.stringify(one)),
      { maxLength: 5 },
    )
    .map((lines) => ({ ending: 'ndjson', text: lines.join('\n'), rows: lines.length })),
  ...['json', 'ndjson', 'txt'].map((ending) =>
    damaged(jsonOf(rows)).map((text) => ({ ending, text, rows: undefined })),
  ),
  rows.map(csvOf).map((text) => ({ ending: 'csv', text, rows: undefined })),
  damaged(rows.map(csvOf)).map((text) => ({ ending: 'csv', text, rows: undefined })),
);

/** Files for `npm run import`, in this process. */
export const importing: Door<File> = {
  name: 'import',
  cases: 250,
  input: file,
  async open() {
    const { domain } = await service();
    const folder = mkdtempSync(join(tmpdir(), 'adoption-fuzz-'));
    return {
      processes: [],
      async send({ ending, text, rows }) {
        const path = join(folder, `rows.${ending}`);
        writeFileSync(path, text);
        const { result, stdout } = await printed(async () => {
          try {
            return await importFile(domain, path, await inspectFile(path));
          } catch (error) {
            if (error instanceof UnreadableFile) return 2;
            throw error;
          }
        });
        expect(takeErrors()).to.deep.equal([]);
        if (rows === undefined) return;
        const [, ...counts] =
          /^members +(\d+) created, (\d+) updated, (\d+) unchanged\nadoption posts +(\d+) created, (\d+) updated, (\d+) unchanged\nrejected +(\d+)\n$/m.exec(
            stdout,
          ) ?? [];
        expect(
          counts.map(Number).reduce((sum, count) => sum + count, 0),
          stdout,
        ).to.equal(rows);
        expect(result).to.equal(counts.at(-1) === '0' ? 0 : 1);
      },
      async check() {
        const { http, mongoUri } = await service();
        expect((await fetch(`${http}/adopt/render`)).status).to.equal(200);
        await expectNoScans(mongoUri);
      },
      async close() {
        rmSync(folder, { recursive: true, force: true });
        await stopService();
      },
    };
  },
};
