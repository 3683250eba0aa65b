/** Reads a log of strace: what a process wrote to files, what it synced, and when. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Calls that the log must show. */
export const TRACED = 'openat,lseek,pwrite64,pwritev,write,writev,fdatasync,fsync,rename,ftruncate,msync';

/** A moment is a line of the log. A call lasts from one to another. */
interface Lasting {
  from: number;
  to: number;
}

export interface FileWrite extends Lasting {
  kind: 'write';
  file: string;
  offset: number;
  data: Buffer;
  /** On disk when it returns (O_DSYNC). */
  isSynced: boolean;
}

export type FileEvent =
  | FileWrite
  | ({ kind: 'sync'; file: string } & Lasting)
  | ({ kind: 'rename'; file: string; newName: string } & Lasting);

/** One call, from the line or two lines that show it. */
interface Call extends Lasting {
  name: string;
  args: string;
  result: number;
}

async function* readCalls(log: string): AsyncGenerator<Call> {
  const unfinished = new Map<string, { from: number; name: string; args: string }>();
  let at = 0;
  for await (const line of createInterface({ input: createReadStream(log) })) {
    at += 1;
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>(.*)\) += (-?\d+)/s.exec(line);
    if (resumed) {
      const [, thread = '', rest = '', result] = resumed;
      const begun = unfinished.get(thread);
      if (begun) yield { ...begun, args: begun.args + rest, to: at, result: Number(result) };
      continue;
    }
    const begins = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s.exec(line);
    if (begins) {
      const [, thread = '', name = '', args = ''] = begins;
      unfinished.set(thread, { from: at, name, args });
      continue;
    }
    const whole = /^\d+ +(\w+)\((.*)\) += (-?\d+)/s.exec(line);
    if (whole)
      yield { name: whole[1] ?? '', args: whole[2] ?? '', from: at, to: at, result: Number(whole[3]) };
  }
}

/** The strings of a call, which strace prints as `"\x00\x2f"`. */
const stringsOf = (args: string): Buffer[] =>
  [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) =>
    Buffer.from(hex.replaceAll('\\x', ''), 'hex'),
  );

/** An open file. */
interface Handle {
  file: string;
  /** Opened with O_DSYNC. */
  isSynced: boolean;
  position: number;
}

/** What a call to an open file did. */
function eventOf({ name, args, result, from, to }: Call, handle: Handle): FileEvent | undefined {
  const { file, isSynced } = handle;
  if (name === 'lseek') {
    handle.position = result;
    return undefined;
  }
  if (name === 'fdatasync' || name === 'fsync') return { kind: 'sync', file, from, to };
  if (name === 'ftruncate' || name === 'msync')
    throw new Error(`${name} of ${file}: the model of a disk does not know it`);
  const data = Buffer.concat(stringsOf(args));
  if (data.length !== result) throw new Error(`line ${to}: ${result} bytes written, ${data.length} shown`);
  const isPlaced = name.startsWith('pwrite');
  const offset = isPlaced ? Number(/, (\d+)$/.exec(args)?.[1]) : handle.position;
  if (!isPlaced) handle.position += result;
  return { kind: 'write', file, offset, data, isSynced, from, to };
}

/** LMDB's table of readers: it is made anew by the process that opens the database. */
const isRenewed = (file: string) => file.endsWith('/lock.mdb');

/** What happened to the files below a folder, in order of the calls' ends. */
export async function readTrace(log: string, folder: string): Promise<FileEvent[]> {
  const events: FileEvent[] = [];
  const open = new Map<number, Handle>();

  /** A call that names files. */
  function note({ name, args, result, from, to }: Call): void {
    const [file = '', newName = ''] = stringsOf(args).map(String);
    const isOurs = file.startsWith(folder) && !isRenewed(file);
    if (name === 'rename' && isOurs) events.push({ kind: 'rename', file, newName, from, to });
    if (name !== 'openat') return;
    if (isOurs) open.set(result, { file, isSynced: /O_D?SYNC/.test(args), position: 0 });
    else open.delete(result);
  }

  for await (const call of readCalls(log)) {
    if (call.result < 0) continue;
    const handle = open.get(Number.parseInt(call.args, 10));
    if (call.name === 'openat' || call.name === 'rename') note(call);
    else if (handle) events.push(...[eventOf(call, handle) ?? []].flat());
  }
  return events;
}
