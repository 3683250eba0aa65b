import type { HttpRequest, HttpResponse, RecognizedString } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { framingFault } from '../../domain/kernel/framing.js';
import { errorAnswer, headersOf } from '../operations.js';
import type { Answer, EngineRequest } from './engine.js';
import type { Unanswered } from './unanswered.js';
import { bodyFault } from './upgrades.js';

/*
 * Requests and answers of uWebSockets.js (docs/decisions/patched-internals.md).
 */

/** An answer, and what to do once the system has taken all of it. */
export interface HttpAnswer extends HttpResponse {
  unanswered?: Unanswered<HttpResponse> | undefined;
  /** To a HEAD request: it has no body. */
  isHead?: boolean;
  /** uWebSockets.js ends the connection with it, and does not say so. */
  endsUnsaid?: boolean;
  /** The client asks for the end of the connection in a way that uWebSockets.js does not know. */
  closes?: boolean;
  unsent?: boolean;
  onSent?: () => void;
}

/**
 * `HttpResponse.end` that buffers nothing. What the client does not read stays unsent: uWebSockets.js closes a
 * connection on which the next request arrives before that, or on which nothing is read for 10 s.
 */
function endUnbuffered(this: HttpAnswer, body: RecognizedString = '', closes = this.closes): HttpResponse {
  this.unanswered?.delete(this);
  this.writeHeader('X-Content-Type-Options', 'nosniff');
  if (this.endsUnsaid) this.writeHeader('Connection', 'close');
  const bytes = Buffer.from(body as string);
  if (this.isHead) return this.endWithoutBody(bytes.length, closes);
  // Small, and the last one: it may be buffered, and uWebSockets.js closes the connection after it, or after 10 s.
  if (closes) return Object.getPrototypeOf(this).end.call(this, bytes, true);
  const start = this.getWriteOffset();
  const send = (from: number): boolean => {
    const [ok, done] = this.tryEnd(bytes.subarray(from), bytes.length);
    this.unsent = !done;
    return ok;
  };
  send(0);
  if (this.unsent)
    this.onWritable((offset) => {
      const ok = send(offset - start);
      if (!this.unsent) this.onSent?.();
      return ok;
    });
  return this;
}

/** `HttpResponse.close`, after which uWebSockets.js throws whenever the response is touched: it calls `onAborted` only where that was set. */
function closeAnswered(this: HttpAnswer): HttpResponse {
  this.unanswered?.delete(this);
  return Object.getPrototypeOf(this).close.call(this);
}

/**
 * Of a body in chunks uWebSockets.js takes sizes that are no numbers, and does not look at what ends a chunk: none is taken. Engine.IO's transport
 * refuses them, too.
 */
const CHUNKED = 'Transfer-Encoding: a body in chunks is not taken, send its Content-Length';

/** The header lines of a request, in its handler. */
export function linesOf(req: HttpRequest): [name: string, value: string][] {
  const lines: [name: string, value: string][] = [];
  req.forEach((name, value) => void lines.push([name, value]));
  return lines;
}

/**
 * Reads a request while its handler runs, which uWebSockets.js forbids later, and bounds its answer. Of a repeated header the last is kept, as Engine.IO does.
 * @param isUpgrade whether uWebSockets.js takes it for the handshake of a WebSocket
 * @param unanswered where it is kept until it is answered
 */
export function readRequest(
  res: HttpResponse,
  req: HttpRequest,
  isUpgrade: boolean,
  unanswered: Unanswered<HttpResponse> | undefined,
): EngineRequest {
  const method = req.getMethod().toUpperCase();
  const lines = linesOf(req);
  const headers: Record<string, string> = Object.fromEntries(lines);
  const { connection = '' } = headers;
  const endsUnsaid = connection.length === 'close'.length;
  const closes = !endsUnsaid && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection);
  Object.assign(res, { end: endUnbuffered, close: closeAnswered });
  Object.assign(res, { isHead: method === 'HEAD', endsUnsaid, closes, unanswered });
  if (!isUpgrade) unanswered?.add(res);
  return {
    method,
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    headers,
    remoteAddress: Buffer.from(res.getRemoteAddressAsText()).toString(),
    isUpgrade,
    framingFault:
      framingFault(lines) ??
      (headers['transfer-encoding'] === undefined ? undefined : CHUNKED) ??
      (isUpgrade ? bodyFault(headers) : undefined),
  };
}

/** Sends an answer when it is ready, unless the client has gone: uWebSockets.js forbids touching an aborted response. */
export function answer(res: HttpResponse, ready: Promise<Answer>): void {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const send = (given: Answer) => {
    if (aborted) return;
    res.cork(() => {
      res.writeStatus(`${given.status} ${STATUS_CODES[given.status]}`);
      for (const [name, value] of Object.entries(headersOf(given))) res.writeHeader(name, value);
      res.end(given.body, given.closes);
    });
  };
  ready.catch(errorAnswer).then((given) => {
    // In a later turn: while a request is not answered, uWebSockets.js closes the connection instead of reading another one, which this
    // one's body may be.
    if (given.closes) setImmediate(send, given);
    else send(given);
  });
}
