import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../process/project-root.js';
import type { RedisClient } from './clients.js';

/** Runs a script. In a cluster all keys must share a hash slot. */
export type RedisScript = (
  client: RedisClient,
  keys: string[],
  args: (string | number)[],
) => Promise<unknown>;

/**
 * Reads a Lua script. Only its hash is sent, unless the server does not have the script.
 *
 * @param path from the project's folder; the script's head documents keys, arguments and answer
 */
export function loadScript(path: string): RedisScript {
  const source = readFileSync(join(projectRoot(), path), 'utf8');
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
