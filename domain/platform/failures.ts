import { AppError } from '../kernel/errors.js';
import { isMongoAway, isMongoFull } from './mongo/errors.js';

/**
 * What a client is told of any thrown value: errors of the catalogue as they are, a database that is
 * away as 503, everything else as 500 without internals (which stay in `cause`, for the log).
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isMongoAway(error)) {
    const reason = isMongoFull(error) ? 'the disk of the database is full' : 'the database does not answer';
    return new AppError('SERVICE_UNAVAILABLE', reason, { cause: error });
  }
  return new AppError('INTERNAL_ERROR', [], { cause: error });
}
