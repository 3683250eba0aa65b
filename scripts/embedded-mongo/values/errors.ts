import { StorageFailure } from '../storage/storage.js';
import type { Document } from './bson-types.js';

/**
 * Names of the error codes this server answers with, as in mongod's `src/mongo/base/error_codes.yml`.
 * Drivers and mongoose decide by number; people read the name.
 */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  11: 'UserNotFound',
  13: 'Unauthorized',
  14: 'TypeMismatch',
  15: 'Overflow',
  16: 'InvalidLength',
  17: 'ProtocolError',
  18: 'AuthenticationFailed',
  20: 'IllegalOperation',
  22: 'InvalidBSON',
  26: 'NamespaceNotFound',
  27: 'IndexNotFound',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  48: 'NamespaceExists',
  50: 'MaxTimeMSExpired',
  52: 'DollarPrefixedFieldName',
  53: 'InvalidIdField',
  54: 'NotSingleValueField',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  76: 'NoReplicationEnabled',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  91: 'ShutdownInProgress',
  115: 'CommandNotSupported',
  123: 'NotAReplicaSet',
  168: 'InvalidPipelineOperator',
  171: 'CannotIndexParallelArrays',
  197: 'InvalidIndexSpecificationOption',
  238: 'NotImplemented',
  246: 'SnapshotUnavailable',
  292: 'QueryExceededMemoryLimitNoDiskUseAllowed',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  14031: 'OutOfDiskSpace',
};

/** An error that is answered to the client with mongod's code, code name and, where it has them, extra fields. */
export class CommandError extends Error {
  readonly code: number;
  readonly details: Document;

  constructor(code: number, message: string, details: Document = {}) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
    this.details = details;
  }

  /** mongod's name of the code; codes that have no name there are called `Location<code>`. */
  get codeName(): string {
    return CODE_NAMES[this.code] ?? `Location${this.code}`;
  }
}

/** BadValue (2), by far the most frequent answer to a malformed command. */
export function badValue(message: string): CommandError {
  return new CommandError(2, message);
}

/** FailedToParse (9). */
export function failedToParse(message: string): CommandError {
  return new CommandError(9, message);
}

/** TypeMismatch (14). */
export function typeMismatch(message: string): CommandError {
  return new CommandError(14, message);
}

/** NotImplemented (238): something mongod has and this server refuses by name rather than answering wrongly. */
export function notServed(what: string): CommandError {
  return new CommandError(238, `${what} is not served by the embedded database`);
}

/**
 * Turns whatever a command threw into an error this server may answer.
 * A full disk becomes OutOfDiskSpace (14031), unreadable BSON InvalidBSON (22), anything else InternalError (1).
 */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (!(error instanceof Error)) return new CommandError(1, String(error));
  if (error.name.startsWith('BSON')) return new CommandError(22, error.message);
  if (error instanceof StorageFailure)
    return error.full
      ? new CommandError(14031, `The disk of the embedded database is full: ${error.message}`)
      : new CommandError(1, `The embedded database cannot write: ${error.message}`);
  if (error instanceof RangeError) return new CommandError(15, 'Document is nested too deeply');
  return new CommandError(1, error.message);
}

/** The reply document of a failed command. */
export function errorReply(error: unknown): Document {
  const known = asCommandError(error);
  return { ok: 0, errmsg: known.message, code: known.code, codeName: known.codeName, ...known.details };
}
