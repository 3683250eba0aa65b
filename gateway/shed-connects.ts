import type { Overload } from '../domain/platform/overload.js';
import type { GatewayServer } from './socket.js';

/** A request as Engine.IO parsed it, and its answer. */
type Request = { _query: { sid?: string } };
type Response = {
  cork(write: () => void): void;
  writeHead(status: number, headers: Record<string, string>): void;
  end(body: string): void;
};

/**
 * Refuses handshakes while the process is overloaded, with HTTP 503: after that, Socket.IO's client tries again by itself,
 * later each time. What belongs to an open session passes. To be called after `io.attachApp`.
 */
export function shedConnects(io: GatewayServer, overload: Overload): void {
  io.engine.use(({ _query }: Request, res: Response, next: () => void) => {
    const refused = _query.sid === undefined ? overload.refuse('connect') : undefined;
    if (!refused) {
      next();
      return;
    }
    const retryAfter = String(Math.ceil((refused.retryAfterMs ?? 0) / 1_000));
    res.cork(() => {
      res.writeHead(refused.status, { 'Content-Type': 'application/json', 'Retry-After': retryAfter });
      res.end(`${JSON.stringify(refused.body)}\n`);
    });
  });
}
