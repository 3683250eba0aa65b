import { createReadStream, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Config } from '../../domain/platform/settings/config.js';

export const logFolder = ({ DATA_DIR }: Config) => join(resolve(DATA_DIR), 'logs');

/** @returns a function that reads the last lines a kind of process has logged since this call */
export function followLog(config: Config, kind: string): (lines: number) => Promise<string> {
  const path = join(logFolder(config), `${kind}.log`);
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const start = size();
  return async (lines) => {
    if (size() <= start) return '';
    const logged = await text(createReadStream(path, { start }));
    return logged.trimEnd().split('\n').slice(-lines).join(' ');
  };
}
