import { AppError } from '../../domain/kernel/errors.js';
import type { EngineRequest } from '../engine/engine.js';
import type { Connection } from '../engine/engineio-internals.js';

/** A parameter of a request, read as Engine.IO reads it: decoded, the last of several. */
export function parameterOf({ query }: Pick<EngineRequest, 'query'>, name: string): string {
  return Object.fromEntries(new URLSearchParams(query))[name] ?? '';
}

const refusal = (text: string) => new AppError('INVALID_INPUT', text);

/** Whether a session that has no WebSocket yet may get one. */
function mayUpgrade({ transport, upgrading, upgraded }: Connection): boolean {
  return transport.name === 'polling' && !upgrading && !upgraded;
}

/** What is wrong with a long-polling request of a session. */
function pollingFault(method: string, { transport }: Connection): AppError | undefined {
  if (method !== 'GET' && method !== 'POST')
    return new AppError('METHOD_NOT_ALLOWED', 'a session takes GET and POST');
  if (transport.name !== 'polling') return refusal('this session has a WebSocket: it takes no requests');
  const underWay = method === 'GET' ? transport.req : transport.dataReq;
  if (!underWay) return undefined;
  // As Engine.IO does: two clients, or a client that has lost count, use one session.
  transport.onError('overlap from client');
  return refusal('this session has a request under way');
}

/**
 * What is wrong with a request of Socket.IO that Engine.IO would answer late or never, close without an answer, or
 * take for one that it is not.
 * @param session the one it names, if there is one
 */
export function transportFault(
  request: EngineRequest,
  session: Connection | undefined,
): AppError | undefined {
  const { method, headers, isUpgrade } = request;
  const transport = parameterOf(request, 'transport');
  // A page's preflight names what it will ask for; others are methods like any other.
  if (method === 'OPTIONS' && headers.origin) return undefined;
  // Its packets are encoded once more: their number could not be limited.
  if (new URLSearchParams(request.query).has('j')) return refusal('j: JSONP is not served');
  if (isUpgrade) {
    if (transport !== 'websocket') return refusal('a WebSocket needs transport=websocket');
    if (!session && parameterOf(request, 'EIO') !== '4') return refusal('a WebSocket needs EIO=4');
    return !session || mayUpgrade(session) ? undefined : refusal('this session has a WebSocket already');
  }
  if (transport === 'websocket') return refusal('transport=websocket needs an upgrade to a WebSocket');
  return transport === 'polling' && session ? pollingFault(method, session) : undefined;
}
