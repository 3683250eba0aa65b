import { AppError } from '../domain/kernel/errors.js';
import type { AppContext } from './context.js';

/** A signal that is aborted when the client closes its connection unanswered. The error is for metrics alone: nobody reads it. */
export function untilGone({ res }: AppContext): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort(new AppError('RATE_LIMITED', 'the client has gone')));
  return gone.signal;
}
