import { AppError } from '../domain/kernel/errors.js';
import type { AppContext } from './context.js';

/** A signal that is aborted when the client closes its connection unanswered. The error is for metrics alone: nobody reads it. */
export function untilGone({ res }: AppContext): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(new AppError('RATE_LIMITED', 'the client has gone'));
  // It may have gone while its token was verified, or its limits were asked.
  if (res.closed) abort();
  else res.once('close', abort);
  return gone.signal;
}
