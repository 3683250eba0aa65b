import type { AppContext } from '../context.js';

/**
 * Lets go of what would be held for as long as a stream is open. Koa waits for a response's end to report
 * what went wrong with it, with the whole context in its hands, some 5 KiB: `end` is what it waits for
 * (on-finished), and a stream looks after its own end. The request's headers have been read by then.
 */
export function detachFromKoa({ req, res }: Pick<AppContext, 'req' | 'res'>): void {
  res.emit('end');
  req.headers = {};
  req.rawHeaders = [];
}
