import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty folder for each test of a describe; all are removed at its end. */
export function useFolder(use: (folder: string) => void): void {
  const folders: string[] = [];
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'embedded-mongo-'));
    folders.push(folder);
    use(folder);
  });
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
}
