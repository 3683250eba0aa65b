import { cp, mkdtemp, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { useFolder } from '../support/folder.js';

/**
 * Both root pages of an LMDB file (mdb.c, MDB_meta behind a page header of 24 bytes): the number of their transaction,
 * and the mark of lmdb-js that the pages they point to are not flushed yet.
 */
const PAGE_BYTES = 4096;
const NOT_FLUSHED = 0x1000;
const FLAGS_OFFSET = 52;
const TRANSACTION_OFFSET = 152;

const key = (i: number) => Buffer.from(`key ${String(i).padStart(6, '0')}`);
const VALUE_BYTES = 700;

/** One acknowledged transaction of five values each. */
async function write(storage: LmdbStorage, n: number): Promise<void> {
  await storage.write((writer) => {
    for (let i = 0; i < 5; i++)
      writer.put(key((n * 7919 + i * 211) % 1000), Buffer.alloc(VALUE_BYTES, n % 251));
    writer.put(Buffer.from('last'), Buffer.from(String(n)));
  });
}

/**
 * What a disk may hold when it is copied below the file system, or loses power, right after `before` was taken: of the
 * writes that follow, the system may have put any page on it that is not flushed, in any order. A root page is such a
 * page only where it was written before the pages it points to were flushed.
 */
async function worstImage(before: string, now: string): Promise<Buffer> {
  const image = await readFile(before);
  const roots = Buffer.alloc(2 * PAGE_BYTES);
  const file = await open(now);
  await file.read(roots, 0, roots.length, 0);
  await file.close();
  for (const start of [0, PAGE_BYTES]) {
    const isNewer =
      roots.readBigUInt64LE(start + TRANSACTION_OFFSET) > image.readBigUInt64LE(start + TRANSACTION_OFFSET);
    const mayComeFirst = (roots.readUInt16LE(start + FLAGS_OFFSET) & NOT_FLUSHED) !== 0;
    // Half a page: the other half of the first one holds lmdb-js's record of what was flushed.
    if (isNewer && mayComeFirst) roots.copy(image, start, start, start + PAGE_BYTES / 2);
  }
  return image;
}

describe('embedded database: a disk snapshot', () => {
  let folder: string;
  useFolder((made) => {
    folder = made;
  });

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one scenario, told in order
  it('has everything that was acknowledged, opened without a reboot in between', async () => {
    const storage = new LmdbStorage(folder);
    for (let n = 0; n < 60; n++) await write(storage, n);
    const data = join(folder, 'data.mdb');
    const rounds = 6;
    const images: { image: Buffer; acknowledged: number }[] = [];
    for (let n = 60; n < 60 + rounds; n++) {
      await cp(data, `${data}.before`);
      await write(storage, n);
      images.push({ image: await worstImage(`${data}.before`, data), acknowledged: n - 1 });
    }
    await storage.close();
    for (const { image, acknowledged } of images) {
      const copy = await mkdtemp(join(folder, 'copy-'));
      await writeFile(join(copy, 'data.mdb'), image);
      const reopened = new LmdbStorage(copy);
      try {
        expect(Number(reopened.get(Buffer.from('last'))?.toString())).to.equal(acknowledged);
        const seen = new Map<string, number>();
        for (let n = 0; n <= acknowledged; n++)
          for (let i = 0; i < 5; i++) seen.set(key((n * 7919 + i * 211) % 1000).toString(), n % 251);
        for (const [name, byte] of seen)
          expect(reopened.get(Buffer.from(name)), name).to.deep.equal(Buffer.alloc(VALUE_BYTES, byte));
        await write(reopened, acknowledged + 1);
      } finally {
        await reopened.close();
      }
    }
  });
});
