import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'socket.io';
import type { GatewayServer, GatewaySocket } from '../connection/socket.js';
import type { ConnectionGuard } from './engineio-internals.js';

/** What GATEWAY_ENGINE chooses from. */
export type EngineName = 'uws' | 'ws';

/** The path at which Socket.IO is served. */
export const SOCKET_PATH = '/socket.io/';

/** A request before Engine.IO reads it. */
export interface EngineRequest {
  /** In capitals. */
  method: string;
  /** Without query and fragment. */
  path: string;
  /** What follows the `?`, without it; empty if there is none. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Address of the peer. */
  remoteAddress: string;
  /** Whether it becomes a WebSocket if it is not refused. */
  isUpgrade: boolean;
  /** Why its head can be read in two ways; it is answered 400 then, and its connection closed. */
  framingFault: string | undefined;
}

/** An answer that is not Engine.IO's. */
export interface Answer {
  status: number;
  type: string;
  body: string;
  retryAfterMs?: number | undefined;
  /** Further headers. */
  headers?: Record<string, string>;
  /** The connection ends with it, and nothing that was sent after the request is taken for another one. */
  closes?: boolean;
}

/** What an engine calls. */
export interface EngineHandlers {
  /** The answer to a request that is refused, to any path; called before anything else reads it. */
  refuse(request: EngineRequest): Answer | undefined;
  /** Answers a request to any other path; a rejection becomes an error's answer. */
  serve(request: EngineRequest): Promise<Answer>;
  /** Limits what connections send; absent with RATE_LIMIT=off. */
  guard: ConnectionGuard | undefined;
  /** Connections that an address may have, whatever they carry, also idle ones; a proxy has one address for all of its clients. */
  perAddress: number;
}

/** Sends to this process's sockets, in the order of the calls, acknowledgements included. */
export interface Publisher {
  /**
   * Sends an event to a Socket.IO room.
   * @param json the payload as JSON, if it is known: it need not be encoded then
   */
  event(room: string, event: string, payload: unknown, json?: string): void;
  /** Has the acknowledgements of an admitted connection sent in the cheapest way. */
  prepare(socket: GatewaySocket): void;
}

/**
 * What the gateway runs on: an HTTP and WebSocket server and the Engine.IO that belongs to it, one per process. Both
 * implementations owe the same: no answer is buffered without end, a connection that 1 MiB waits for is closed,
 * binary frames are refused, frames are charged before they are parsed, and while the process is short of files new
 * connections are closed. (docs/decisions/engines.md)
 */
export interface Engine {
  readonly name: EngineName;
  /** Why several processes cannot listen on one port; absent if they can. */
  readonly unshared?: string | undefined;
  /**
   * Has the server serve Socket.IO. To be called once, before `listen`.
   * @param options those of `io`
   * @returns what sends to its sockets
   */
  attach(io: GatewayServer, options: Partial<ServerOptions>, handlers: EngineHandlers): Publisher;
  /**
   * @param shared whether other processes may listen on the same port
   * @returns the port; undefined if it cannot be bound
   */
  listen(host: string, port: number, shared: boolean): Promise<number | undefined>;
  /** Accepts no further connections; open ones stay. */
  stopAccepting(): void;
  /** Accepts no further connections, and closes the open ones at once, whatever waits for them. */
  close(): void;
}
