import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Member } from './api.js';
import { expectMessage } from './api-documents.js';
import { counted } from './counted.js';
import { createReceivedLog, WAIT_MS } from './eventually.js';
import { service } from './service.js';

const open = new Set<Socket>();

type Options = Partial<ManagerOptions & SocketOptions>;

/** A connected client that keeps everything it receives. */
export interface Client {
  socket: Socket;
  /** Everything received of one event, in order. */
  heard<T>(event: string): T[];
  /** The first event that matches, received already or later. */
  next<T>(event: string, matches?: (value: T) => boolean): Promise<T>;
  /** Sends an event and resolves to its acknowledgement. */
  ask<T = Record<string, unknown>>(event: string, ...args: unknown[]): Promise<T & { status: number }>;
  /** Joins a room. @param after the last message number seen */
  join<T = Record<string, unknown>>(chatNo: number, after?: number): Promise<T & { status: number }>;
  /** Sends a text message. */
  send<T = { message: { seq: number; id: string } }>(
    chatNo: number,
    content: string,
    clientId?: string,
  ): Promise<T & { status: number }>;
}

/** A socket that is not connected yet. @param base of the gateway; by default that of the service in this process */
export async function socketOf(options: Options = {}, base?: string): Promise<Socket> {
  const address = base ?? (await service()).gateway;
  const socket = io(address, { transports: ['websocket'], forceNew: true, reconnection: false, ...options });
  open.add(socket);
  return socket;
}

/** A member's connected client. */
export async function connect(
  who: Pick<Member, 'token'>,
  options: Options = {},
  base?: string,
): Promise<Client> {
  const socket = await socketOf({ auth: { token: who.token }, ...options }, base);
  const received = createReceivedLog<{ event: string; value: unknown }>();
  socket.onAny((event: string, value: unknown) => received.add({ event, value }));
  const ask: Client['ask'] = async (event, ...args) => {
    const answer = await socket.timeout(WAIT_MS).emitWithAck(event, ...args);
    expectMessage(`${event}.ack`, answer);
    return answer;
  };
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return {
    socket,
    heard: <T>(event: string) =>
      received.entries.filter((entry) => entry.event === event).map(({ value }) => value as T),
    async next<T>(event: string, matches: (value: T) => boolean = () => true) {
      const { value } = await received.next((entry) => entry.event === event && matches(entry.value as T));
      expectMessage(`server.${event}`, value);
      return value as T;
    },
    ask,
    join: (chatNo, after) => ask('room:join', { chatNo, ...(after === undefined ? {} : { after }) }),
    send: (chatNo, content, clientId) =>
      ask('message:send', { chatNo, contentType: 'text', content, ...(clientId ? { clientId } : {}) }),
  };
}

/** The first `presence` event of this kind, of any member or the given one. */
export function nextPresence({ next }: Client, present: boolean, memberNo?: number) {
  return next<{ memberNo: number; present: boolean }>(
    'presence',
    (event) => event.present === present && (memberNo === undefined || event.memberNo === memberNo),
  );
}

/** The error that a refused connection receives. */
export async function refusal(options: Options, base?: string): Promise<Error & { data?: unknown }> {
  const socket = await socketOf(options, base);
  return new Promise((resolve, reject) => {
    socket.once('connect_error', resolve);
    socket.once('connect', () => reject(new Error('the connection was accepted')));
  });
}

/** Sockets open at the service in this process, by its metrics. */
export const openSockets = (): Promise<number> => counted(metrics.sockets);

/** Closes all clients of a test. */
export function closeSockets(): void {
  for (const socket of open) socket.disconnect();
  open.clear();
}
