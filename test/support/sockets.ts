import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import type { Member } from './api.js';
import { service } from './service.js';

const open = new Set<Socket>();

/** A connected client that keeps everything it hears, so that no early event is missed. */
export interface Client {
  socket: Socket;
  /** Everything heard of one event, in order. */
  heard<T>(event: string): T[];
  /** The first one heard that fits, now or later. */
  next<T>(event: string, fits?: (value: T) => boolean): Promise<T>;
  /** Sends an event and resolves to its acknowledgement. */
  ask<T = Record<string, unknown>>(event: string, ...args: unknown[]): Promise<T & { status: number }>;
}

/** How long, in ms, an event may take before its test fails by name rather than by a time-out. */
const TIMEOUT_MS = 40_000;

/** A socket that is not connected yet. */
export async function socketOf(
  options: Partial<ManagerOptions & SocketOptions> = {},
  base?: string,
): Promise<Socket> {
  const address = base ?? (await service()).gateway;
  const socket = io(address, { transports: ['websocket'], forceNew: true, reconnection: false, ...options });
  open.add(socket);
  return socket;
}

function watch(socket: Socket): Client {
  const log: { event: string; value: unknown }[] = [];
  const waiting = new Set<() => void>();
  socket.onAny((event: string, value: unknown) => {
    log.push({ event, value });
    for (const look of [...waiting]) look();
  });
  const heard = <T>(event: string) =>
    log.filter((entry) => entry.event === event).map(({ value }) => value as T);

  return {
    socket,
    heard,
    next<T>(event: string, fits: (value: T) => boolean = () => true): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `no fitting ${event} in ${TIMEOUT_MS} ms; heard: ${JSON.stringify(log).slice(0, 2_000)}`,
            ),
          );
        }, TIMEOUT_MS);
        function look(): void {
          const found = heard<T>(event).find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        }
        waiting.add(look);
        look();
      });
    },
    ask: (event, ...args) => socket.timeout(TIMEOUT_MS).emitWithAck(event, ...args),
  };
}

/** A member's connected client. */
export async function connect(
  who: Pick<Member, 'token'>,
  options: Partial<ManagerOptions & SocketOptions> = {},
  base?: string,
): Promise<Client> {
  const socket = await socketOf({ auth: { token: who.token }, ...options }, base);
  const client = watch(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return client;
}

/** The error a refused connection is told. */
export async function refusal(
  options: Partial<ManagerOptions & SocketOptions>,
  base?: string,
): Promise<Error & { data?: unknown }> {
  const socket = await socketOf(options, base);
  return new Promise((resolve, reject) => {
    socket.once('connect_error', resolve);
    socket.once('connect', () => reject(new Error('the connection was let in')));
  });
}

/** How many connections the service counts. */
export async function openSockets(): Promise<number> {
  const { gateway } = await service();
  const text = await (await fetch(`${gateway}/metrics`)).text();
  return Number(/^sockets_open (\d+)$/m.exec(text)?.[1]);
}

/** Closes every client of the test and waits until the service has noticed. */
export async function closeSockets(): Promise<void> {
  for (const socket of open) socket.disconnect();
  open.clear();
}
