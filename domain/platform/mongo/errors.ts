/** Server code: a unique index refused a record. */
export const DUPLICATE_KEY = 11_000;

/** Server code: OutOfDiskSpace. */
const DISK_FULL = 14_031;

/** Driver errors that mean "the database is unavailable", whatever the operation. */
const UNAVAILABLE = new Set([
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoServerClosedError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
  'MongoExpiredSessionError',
  'MongoClientClosedError',
  'MongoWriteConcernError',
]);

/** Server codes that mean the same: `maxTimeMS` is over, not primary, shutting down, write concern timed out, disk full. */
const UNAVAILABLE_CODES = new Set([
  6,
  7,
  50,
  64,
  89,
  91,
  189,
  262,
  9001,
  10_107,
  11_600,
  11_602,
  13_435,
  13_436,
  DISK_FULL,
]);

/** System codes that mean the same: the driver passes some on, as for a write to a closed connection. */
const UNREACHABLE = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined;
}

/** @returns whether a unique index refused a write */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/** @returns whether the database answers but its disk does not take the write */
export function isMongoFull(error: unknown): boolean {
  return codeOf(error) === DISK_FULL;
}

/** @returns whether the database cannot be reached or cannot write at the moment */
export function isMongoUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (UNAVAILABLE.has(error.name)) return true;
  if (typeof code === 'number') return UNAVAILABLE_CODES.has(code);
  // Of an error that fails a bulk write as a whole, the driver keeps only the text; a refusal has a code.
  if (error.name === 'MongoBulkWriteError') return true;
  if (typeof code === 'string' && UNREACHABLE.has(code)) return true;
  return error.name === 'MongooseError' && /before initial connection/.test(error.message);
}

/**
 * The records of a bulk write that the server refused: their indexes and codes, in the order of the reply.
 * @returns undefined if the outcome is unknown
 */
export function writeErrorsOf(error: unknown): Map<number, number> | undefined {
  const { writeErrors = [] } = (error ?? {}) as { writeErrors?: { index: number; code: number }[] };
  return writeErrors.length > 0 ? new Map(writeErrors.map(({ index, code }) => [index, code])) : undefined;
}
