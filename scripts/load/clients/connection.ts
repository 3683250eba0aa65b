/** The protocols that clients speak. */
export type ConnectionKind = 'socketio' | 'plain' | 'mqtt' | 'stream';

export interface Target {
  kind: ConnectionKind;
  host: string;
  port: number;
  /** Over TLS. */
  secure?: boolean;
  /** Path of the request that opens a connection; senders of kind `plain` use `sendPath`. */
  path?: string;
  sendPath?: string;
  /** Subprotocol of those that receive, kind `plain`: nchan sends the id of each message with it. */
  protocol?: string;
  /** The Socket.IO event that counts as a delivery. */
  event?: 'message' | 'notification';
}

/** A connection to be opened. */
export interface ConnectionSpec {
  token?: string;
  /** Number of the room it joins. */
  room?: number;
  /** Number of the last message it has; without it, the newest are requested. */
  after?: number;
  /** Sends messages during a flow. */
  sender?: boolean;
  /** Of an earlier connection: that of Socket.IO's connection state recovery; nchan has an offset alone. */
  session?: { pid?: string; offset: string };
}

export interface ConnectionEvents {
  /** The connection is open and in its room. */
  ready(): void;
  /** A delivery; the bytes are valid during the call. */
  delivered(bytes: Buffer, from: number, to: number): void;
  /** What a Socket.IO server answers to connecting and to joining, before `ready`; valid during the call. */
  answered?(bytes: Buffer, from: number, to: number): void;
  /** A message was acknowledged. @param count of `send`; without it, the oldest unacknowledged one */
  acknowledged(ok: boolean, count?: number): void;
  /** The connection failed, was refused, or was closed by the server. */
  closed(reason: string): void;
}

export interface Connection {
  send(text: string, count: number): void;
  /** Closes without notice and without a `closed` event. */
  cut(): void;
}

export type OpenConnection = (target: Target, spec: ConnectionSpec, events: ConnectionEvents) => Connection;
