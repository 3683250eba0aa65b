import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** LMDB opens its file twice: for pages, and for root pages, which are flushed as they are written. */
type Part = 'pages' | 'roots';

/** `O_RDWR`, and the flag of the descriptor for root pages. */
const READ_WRITE = 0o2;
const DSYNC = 0o10000;

const DESCRIPTORS = '/proc/self/fd';

/** The descriptor of this process for a part of a store. */
function descriptorOf(file: string, part: Part): number {
  const found = readdirSync(DESCRIPTORS).find((name) => {
    try {
      const { flags = '' } =
        /^flags:\s*(?<flags>\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8'))?.groups ?? {};
      const isForRoots = (Number.parseInt(flags, 8) & DSYNC) !== 0;
      return readlinkSync(join(DESCRIPTORS, name)) === file && isForRoots === (part === 'roots');
    } catch {
      // Closed meanwhile: that which listed them.
      return false;
    }
  });
  if (found === undefined) throw new Error(`this process has no descriptor for the ${part} of ${file}`);
  return Number(found);
}

/** Opens a file under the number of an open descriptor: the system takes the lowest that is free. */
function replace(descriptor: number, file: string, flags: number): void {
  closeSync(descriptor);
  const others: number[] = [];
  for (let opened = openSync(file, flags); opened !== descriptor; opened = openSync(file, flags))
    others.push(opened);
  for (const other of others) closeSync(other);
}

/**
 * Lets LMDB in this process write a part of its store to another file from now on. Linux only.
 *
 * @param folder of `data.mdb`
 * @param to `/dev/full`: ENOSPC; `/proc/self/mem`, for root pages only: EIO; `/dev/null` takes pages and fails to flush them
 * @returns undoes it
 */
export function divert(folder: string, part: Part, to: string): () => void {
  const file = join(realpathSync(folder), 'data.mdb');
  const descriptor = descriptorOf(file, part);
  replace(descriptor, to, READ_WRITE);
  return () => replace(descriptor, file, part === 'roots' ? READ_WRITE | DSYNC : READ_WRITE);
}
