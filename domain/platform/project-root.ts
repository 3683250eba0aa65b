import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of package.json. Files that are served as they are written (pages, styles, scripts) are
 * found from here, because the compiled code that serves them lives in another folder than they do.
 */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('no package.json above the running code');
    folder = above;
  }
  return folder;
}
