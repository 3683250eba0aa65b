import type { Reader, Writer } from '../storage/storage.js';
import { type Document, encode, isDocument, numericValue, typeInfo } from '../values/bson-types.js';
import { badValue, CommandError, failedToParse, typeMismatch } from '../values/errors.js';
import type { Reply } from '../wire/messages.js';
import type { Engine } from './engine.js';
import type { TimeLimit } from './time-limit.js';

/** One command of one client. */
export interface CommandCall {
  engine: Engine;
  database: string;
  /** The command document, decoded with exact number types; its first field is the command's name. */
  command: Document;
  /** Document sequences that came beside the command, still encoded. */
  sequences: ReadonlyMap<string, readonly Buffer[]>;
  connectionId: number;
  /** From `maxTimeMS`. */
  limit: TimeLimit | undefined;
}

export type CommandHandler = (call: CommandCall) => Reply | Promise<Reply>;

/** What a command reads with; ends the command when its time is over. */
export function readerOf(call: CommandCall, reader: Reader = call.engine.storage): Reader {
  return call.limit ? call.limit.limited(reader) : reader;
}

/**
 * Runs a command's writes. Its time is over only before they begin or while the job looks for documents with `reader`:
 * what has begun to change something is finished, since storage cannot take it back.
 */
export function write<T>(call: CommandCall, job: (writer: Writer, reader: Reader) => T): Promise<T> {
  return call.engine.storage.write((writer) => {
    call.limit?.check();
    return job(writer, readerOf(call, writer));
  });
}

/** The collection a command names in its first field. Throws InvalidNamespace (73). */
export function collectionName(call: CommandCall): string {
  const name = Object.values(call.command)[0];
  if (typeof name !== 'string' || name === '')
    throw new CommandError(73, `collection name has invalid type ${typeInfo(name).alias}`);
  return name;
}

/** The encoded documents of a command, from a document sequence or from an array field. */
export function documentsOf(call: CommandCall, field: string): readonly Buffer[] {
  const sequence = call.sequences.get(field);
  if (sequence) return sequence;
  return statementsOf(call, field).map(encode);
}

/** The decoded documents of a command's array field, or of its sequence by `decode`. */
export function statementsOf(
  call: CommandCall,
  field: string,
  decode?: (bytes: Buffer) => Document,
): Document[] {
  const sequence = call.sequences.get(field);
  if (sequence && decode) return sequence.map(decode);
  const array = call.command[field];
  if (!Array.isArray(array))
    throw new CommandError(40414, `BSON field '${field}' is missing but a required field`);
  if (!array.every(isDocument)) throw typeMismatch(`BSON field '${field}' must hold objects`);
  return array;
}

/** Write commands take 1 to 100,000 statements, as hello says. Throws InvalidLength (16). */
export function checkBatch(size: number): void {
  if (size < 1 || size > 100_000)
    throw new CommandError(16, `Write batch sizes must be between 1 and 100000. Got ${size} operations.`);
}

/** Options that change results and that this server does not have are refused, never ignored. */
export function refuseUnserved(command: Document): void {
  if (command.txnNumber !== undefined)
    throw new CommandError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
  if (isDocument(command.readConcern)) {
    const { level } = command.readConcern;
    if (level === 'snapshot') throw new CommandError(246, 'Read concern snapshot needs a replica set');
    if (level === 'linearizable')
      throw new CommandError(123, 'Read concern linearizable needs a replica set');
  }
  if (isDocument(command.writeConcern)) {
    const { w } = command.writeConcern;
    const number = numericValue(w);
    if (number !== undefined && number > 1)
      throw badValue("cannot use 'w' > 1 when a host is not replicated");
    if (number === undefined && w !== undefined && w !== 'majority')
      throw badValue("cannot use a non-majority 'w' mode when a host is not replicated");
  }
}

/** A boolean option that may also come as a number. */
export function booleanOption(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  const number = numericValue(value);
  if (number === undefined)
    throw typeMismatch(`Field '${name}' must be a boolean, not ${typeInfo(value).alias}`);
  return Number(number) !== 0;
}

/** A cursor id, which is a 64-bit integer. */
export function cursorIdOf(value: unknown): bigint {
  const number = numericValue(value);
  if (number === undefined || !Number.isInteger(Number(number)))
    throw failedToParse('a cursor id must be a 64-bit integer');
  return BigInt(number);
}
