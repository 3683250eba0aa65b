/** How a client speaks to a server. */
export type ConnectionKind = 'socketio' | 'plain' | 'mqtt' | 'stream';

/** Where lines lead. */
export interface Target {
  kind: ConnectionKind;
  host: string;
  port: number;
  /** Path of the request that opens a line; `plain` ones of senders use `sendPath`. */
  path?: string;
  sendPath?: string;
  /** The Socket.IO event that counts as a delivery. */
  event?: 'message' | 'notification';
}

/** One connection to be opened. */
export interface ConnectionSpec {
  token?: string;
  /** Number of the room it enters. */
  room?: number;
  /** Number of the last message it has; without one it asks for the newest. */
  after?: number;
  /** Sends messages when a flow runs. */
  sender?: boolean;
}

/** What a connection reports. */
export interface ConnectionEvents {
  /** A delivery; the bytes are valid for the length of the call. */
  heard(bytes: Buffer, from: number, to: number): void;
  /** The oldest message that was sent and not answered yet is answered. */
  answered(good: boolean): void;
  /** It has ended without being asked to. */
  closed(reason: string): void;
}

/** An open connection, in its room. */
export interface Connection {
  send(text: string, count: number): void;
  /** Cuts it, without a word. */
  cut(): void;
}

/** Opens a connection and resolves once it is where it has to be. */
export type OpenConnection = (
  target: Target,
  spec: ConnectionSpec,
  events: ConnectionEvents,
) => Promise<Connection>;
