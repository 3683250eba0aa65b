import { AppError } from '../../kernel/errors.js';
import { isMongoFull, isMongoUnavailable } from '../mongo/errors.js';

/**
 * The error for the client: an AppError unchanged, an unavailable database as 503, anything else as 500
 * without internals, which are kept in `cause` for the log.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isMongoUnavailable(error)) {
    const reason = isMongoFull(error)
      ? 'the disk of the database is full or failing'
      : 'the database does not answer';
    return new AppError('SERVICE_UNAVAILABLE', reason, { cause: error });
  }
  return new AppError('INTERNAL_ERROR', [], { cause: error });
}
