/**
 * Names of the error codes this server answers with, as in mongod's `src/mongo/base/error_codes.yml`.
 * Drivers and mongoose decide by number; people read the name.
 */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  13: 'Unauthorized',
  14: 'TypeMismatch',
  15: 'Overflow',
  16: 'InvalidLength',
  22: 'InvalidBSON',
  26: 'NamespaceNotFound',
  27: 'IndexNotFound',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  50: 'MaxTimeMSExpired',
  52: 'DollarPrefixedFieldName',
  53: 'InvalidIdField',
  54: 'NotSingleValueField',
  56: 'EmptyFieldName',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  238: 'NotImplemented',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  14031: 'OutOfDiskSpace',
};

/** An error that is answered to the client with mongod's code, code name and, where it has them, extra fields. */
export class CommandError extends Error {
  readonly code: number;
  readonly details: object;

  constructor(code: number, message: string, details: object = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** mongod's name of the code; codes that have no name there are called `Location<code>`. */
  get codeName(): string {
    return CODE_NAMES[this.code] ?? `Location${this.code}`;
  }
}

/** The store itself failed: nothing of the commit remains, and earlier data is unchanged. */
export class StorageFailure extends CommandError {
  /** @param disk what its disk is (`full`, `failing`): OutOfDiskSpace (14031); otherwise InternalError (1) */
  constructor(message: string, disk?: string) {
    if (disk) super(14031, `The disk of the embedded database is ${disk}: ${message}`);
    else super(1, `The embedded database cannot write: ${message}`);
  }
}

/** BadValue (2), by far the most frequent answer to a malformed command. */
export const badValue = (message: string): CommandError => new CommandError(2, message);

/** FailedToParse (9). */
export const failedToParse = (message: string): CommandError => new CommandError(9, message);

/** TypeMismatch (14). */
export const typeMismatch = (message: string): CommandError => new CommandError(14, message);

/** NotImplemented (238): better refused by name than answered wrongly. */
export function notServed(what: string): CommandError {
  return new CommandError(238, `${what} is not served by the embedded database`);
}

/** Whether a request caused an error, not the store or this program. */
export function isRequestError(error: unknown): boolean {
  if (error instanceof CommandError) return !(error instanceof StorageFailure);
  // A stack overflow while BSON is read or written.
  return error instanceof RangeError || (error instanceof Error && error.name.startsWith('BSON'));
}

/** Any thrown value as an answer: unreadable BSON is InvalidBSON (22), the unexpected InternalError (1). */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (!(error instanceof Error)) return new CommandError(1, String(error));
  if (error.name.startsWith('BSON')) return new CommandError(22, error.message);
  if (error instanceof RangeError) return new CommandError(15, 'Document is nested too deeply');
  return new CommandError(1, error.message);
}

/** The reply document of a failed command. */
export function errorReply(error: unknown): Record<string, unknown> {
  const { message, code, codeName, details } = asCommandError(error);
  return { ok: 0, errmsg: message, code, codeName, ...details };
}
