import type { Collection } from '../storage/collection.js';
import {
  type Document,
  encode,
  isDocument,
  isNullish,
  MAX_DOCUMENT_BYTES,
  numericValue,
  typeName,
} from '../values/bson-types.js';
import { CommandError, failedToParse, notServed, typeMismatch } from '../values/errors.js';
import type { CursorReply } from './cursors.js';
import type { Engine } from './engine.js';

/** One command of one client. */
export interface CommandCall {
  engine: Engine;
  database: string;
  /** The command document, decoded with exact number types; its first field is the command's name. */
  command: Document;
  /** Document sequences sent with the command, still encoded. */
  sequences: ReadonlyMap<string, readonly Buffer[]>;
}

export type Reply = Document | CursorReply;

/** A supported command. */
export interface Command {
  /** The fields it accepts besides its name and GENERIC_FIELDS; if missing, any. */
  fields?: readonly string[];
  run(call: CommandCall): Reply | Promise<Reply>;
}

/** Fields that any command may have: drivers add them. */
const GENERIC_FIELDS = ['$db', '$readPreference', 'lsid', 'readConcern', 'writeConcern', 'comment'];

/** Throws NotImplemented (238) for a field that a command does not support: none is ignored. */
export function refuseOtherFields(name: string, document: Document, fields: readonly string[]): void {
  for (const field of Object.keys(document))
    if (!fields.includes(field)) throw notServed(`the field '${field}' of ${name}`);
}

/** Throws NotImplemented for unsupported fields, and for concerns that a single server cannot meet. */
export function refuseUnserved(name: string, { fields }: Command, command: Document): void {
  if (fields) refuseOtherFields(name, command, [name, ...fields, ...GENERIC_FIELDS]);
  const { readConcern, writeConcern } = command;
  const level = isDocument(readConcern) ? (readConcern.level ?? 'local') : 'local';
  if (!['local', 'available', 'majority'].includes(level as string))
    throw notServed(`read concern '${level}'`);
  const w = isDocument(writeConcern) ? (writeConcern.w ?? 1) : 1;
  const isServed = w === 'majority' || numericValue(w) === 0 || numericValue(w) === 1;
  if (!isServed) throw notServed(`write concern '${w}' without a replica set`);
}

/** The name of the collection in a command's first field. Throws InvalidNamespace (73). */
export function collectionName({ command }: CommandCall): string {
  const [name] = Object.values(command);
  if (typeof name !== 'string' || name === '')
    throw new CommandError(73, `collection name has invalid type ${typeName(name)}`);
  return name;
}

export const namespaceOf = (call: CommandCall): string => `${call.database}.${collectionName(call)}`;

/** The collection of a command, if there is one. */
export function collectionOf(call: CommandCall): Collection | undefined {
  return call.engine.catalog.find(call.database, collectionName(call));
}

/** A boolean option, which may also be a number. */
export function booleanOption(value: unknown, name: string): boolean {
  if (isNullish(value)) return false;
  if (typeof value === 'boolean') return value;
  const number = numericValue(value);
  if (number === undefined) throw typeMismatch(`Field '${name}' must be a boolean, not ${typeName(value)}`);
  return number !== 0;
}

/** An option that counts documents; 0 by default. Throws 51024 below 0 and for fractions. */
export function countOption(value: unknown, name: string): number {
  if (isNullish(value)) return 0;
  const count = numericValue(value);
  if (count === undefined) throw typeMismatch(`Field '${name}' must be a number, not ${typeName(value)}`);
  if (!Number.isInteger(count) || count < 0)
    throw new CommandError(51024, `BSON field '${name}' value must be >= 0, actual value '${count}'`);
  return count;
}

/** The batch size of an option; undefined leaves it to the server. */
export function batchSizeOption(value: unknown): number | undefined {
  return isNullish(value) ? undefined : countOption(value, 'batchSize');
}

/** The batch size in a command's `cursor` document. */
export function cursorBatchSize({ command }: CommandCall): number | undefined {
  if (!isDocument(command.cursor)) throw failedToParse("The 'cursor' option is required");
  refuseOtherFields('cursor', command.cursor, ['batchSize']);
  return batchSizeOption(command.cursor.batchSize);
}

/** Encodes the documents of a result. Throws BSONObjectTooLarge (10334). */
export function* encodeAll(documents: Iterable<Document>): Generator<Uint8Array> {
  for (const document of documents) {
    const bytes = encode(document);
    if (bytes.length > MAX_DOCUMENT_BYTES)
      throw new CommandError(10334, 'a document of the result is larger than 16 MiB');
    yield bytes;
  }
}
