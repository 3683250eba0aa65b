import { AppError } from '../kernel/errors.js';
import { isMongoAway } from './mongo.js';

/**
 * What a client is told of any thrown value: errors of the catalogue as they are, a database that is
 * away as 503, everything else as 500 without internals (which stay in `cause`, for the log).
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isMongoAway(error)) {
    return new AppError('SERVICE_UNAVAILABLE', 'the database does not answer', { cause: error });
  }
  return new AppError('INTERNAL_ERROR', [], { cause: error });
}
