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

/** By this first line Redis 7 and later run a script also when they have no memory left. Earlier ones do not compile it. */
const ALLOW_OOM = '#!lua flags=allow-oom\n';

const isReply = (error: unknown, start: string) => error instanceof Error && error.message.startsWith(start);

/**
 * Reads a Lua script. Only its hash is sent, unless the server does not have the script.
 *
 * @param path from the project's folder; the script's head documents keys, arguments and answer
 * @param allowsOom whether it may store although Redis has reached its limit of memory, which has to be little. Such a script is
 *   refused as a whole where Redis stores nothing for another reason, also if it only reads
 */
export function loadScript(path: string, { allowsOom = false } = {}): RedisScript {
  const plain = readFileSync(join(projectRoot(), path), 'utf8');
  const hashOf = (source: string) => createHash('sha1').update(source).digest('hex');
  let source = allowsOom ? ALLOW_OOM + plain : plain;
  let hash = hashOf(source);
  async function run(client: RedisClient, keys: string[], args: (string | number)[]): Promise<unknown> {
    try {
      return await client.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error;
    }
    try {
      return await client.eval(source, keys.length, ...keys, ...args);
    } catch (error) {
      if (source === plain || !isReply(error, 'ERR Error compiling script')) throw error;
      [source, hash] = [plain, hashOf(plain)];
      return run(client, keys, args);
    }
  }
  return run;
}
