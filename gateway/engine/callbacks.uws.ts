import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import type { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import type { HttpAnswer } from './requests.uws.js';

/*
 * Every function that uWebSockets.js calls is contained here: one that throws would be an uncaught exception, or end the process at once
 * where the request has neither been answered nor got an abort handler (docs/decisions/patched-internals.md).
 */

/** Methods of a response that are given a callback. */
const OF_RESPONSE = ['onAborted', 'onData', 'onWritable', 'cork'] as const;

const endResponse = (_: unknown, [res]: unknown[]) => void (res as HttpResponse).close();

/** Ends a WebSocket whose callback has failed, by its name. By default at once; in these two, uWebSockets.js would crash. */
function endOf(name: string) {
  if (name === 'close')
    // Engine.IO may not have heard of it.
    return (_: unknown, [socket]: unknown[]) =>
      (socket as WebSocket<{ transport: { onClose(): void } }>).getUserData().transport.onClose();
  if (name === 'dropped' || name === 'subscription')
    return (_: unknown, [socket]: unknown[]) =>
      void setImmediate(() => {
        try {
          (socket as WebSocket<unknown>).close();
        } catch {
          // It has ended.
        }
      });
  return (_: unknown, [socket]: unknown[]) => void (socket as WebSocket<unknown>).end(1011, 'internal error');
}

/** Has every callback contained that an app, its responses and its WebSockets are given from now on. */
export function containCallbacks(app: TemplatedApp, guard: CallbackGuard): void {
  const ofResponse = Object.fromEntries(
    OF_RESPONSE.map((name) => [
      name,
      function (this: HttpAnswer, callback: () => void) {
        const contained = guard.wrap(`response ${name}`, () => this.close(), callback);
        if (name !== 'onAborted') return Object.getPrototypeOf(this)[name].call(this, contained);
        return Object.getPrototypeOf(this).onAborted.call(this, () => {
          this.unanswered?.delete(this);
          contained();
        });
      },
    ]),
  );
  /** A handler of requests, whose responses have their callbacks contained. */
  function handling<A extends unknown[]>(
    name: string,
    handler: (res: HttpResponse, req: HttpRequest, ...rest: A) => void | Promise<void>,
  ) {
    return guard.wrap(name, endResponse, (res: HttpResponse, req: HttpRequest, ...rest: A) => {
      Object.assign(res, ofResponse);
      return handler(res, req, ...rest);
    });
  }
  const any = app.any.bind(app);
  app.any = (pattern, handler) => any(pattern, handling('request', handler));
  const filter = app.filter.bind(app);
  app.filter = (callback) => filter(guard.wrap('filter', endResponse, callback));
  const ws = app.ws.bind(app);
  app.ws = ((pattern: string, { upgrade, ...behavior }: WebSocketBehavior<unknown>) =>
    ws(pattern, {
      ...Object.fromEntries(
        Object.entries(behavior).map(([name, value]) => [
          name,
          typeof value === 'function' ? guard.wrap(`socket ${name}`, endOf(name), value) : value,
        ]),
      ),
      ...(upgrade && { upgrade: handling<[us_socket_context_t]>('upgrade', upgrade) }),
    })) as TemplatedApp['ws'];
}
