import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.js';
import type { RedisClient } from './clients.js';

/** Runs a script. In a cluster its keys are all of one hash slot. */
export type RedisScript = (
  client: RedisClient,
  keys: string[],
  args: (string | number)[],
) => Promise<unknown>;

/**
 * Reads a Lua script. It is sent by its hash, and in full only to a server that does not know it (yet,
 * or any more).
 *
 * @param paths from the project's folder, of files that are one script one after another; the head of the
 * last one tells its keys, arguments and answer
 */
export function loadScript(...paths: string[]): RedisScript {
  const source = paths.map((path) => readFileSync(join(projectRoot(), path), 'utf8')).join('\n');
  const hash = createHash('sha1').update(source).digest('hex');
  return async (client, keys, args) => {
    try {
      return await client.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(source, keys.length, ...keys, ...args);
    }
  };
}
