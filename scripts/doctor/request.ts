import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { Fault } from './check.js';

/** Time limit of a request, ms. */
const REQUEST_MS = 4_000;

/** Time, ms, in which the first event of a stream or socket must arrive: the service sends it at once. */
const FIRST_EVENT_MS = 2_500;

/** Most of an answer's body that is read, bytes. */
const MAX_BODY = 256 * 1024;

/** An answer to a request. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** When it was sent and when its headers arrived, epoch ms. */
  sentAt: number;
  answeredAt: number;
  /** When the certificate expires, epoch ms; undefined without TLS. */
  certificateUntil: number | undefined;
}

/** Why a request failed, in words; never with what the address holds beside its host. */
function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ECONNREFUSED: 'refuses connections',
    ENOTFOUND: 'is not a known host',
    EAI_AGAIN: 'cannot be looked up: the name server does not answer',
    ECONNRESET: 'closes the connection',
    EHOSTUNREACH: 'cannot be reached',
    ENETUNREACH: 'cannot be reached',
  };
  if (name === 'AbortError' || name === 'TimeoutError')
    return `does not answer within ${REQUEST_MS / 1_000} s`;
  return (code && reasons[code]) ?? `fails: ${message || code}`;
}

/** The address of a path below a base address, which may have a path itself. */
export const below = (base: string, path: string) => new URL(`${base.replace(/\/+$/, '')}${path}`);

interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a request on a connection of its own. @returns the answer once its headers are there */
function ask(
  url: URL,
  { method = 'GET', headers = {}, body }: RequestOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent: false,
      signal,
      headers: { 'User-Agent': 'doctor', ...headers },
    });
    // Once there is an answer, its reader gets the error.
    sent.on('error', reject);
    sent.on('response', resolve);
    sent.end(body);
  });
}

function certificateUntil({ socket }: IncomingMessage): number | undefined {
  const until =
    'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().valid_to : undefined;
  return until ? Date.parse(until) : undefined;
}

/** Sends a request. @throws Fault that names the host if there is no answer */
export async function request(url: URL, options: RequestOptions = {}): Promise<Answer> {
  const sentAt = Date.now();
  try {
    const response = await ask(url, options, AbortSignal.timeout(REQUEST_MS));
    const answeredAt = Date.now();
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY) break;
    }
    return {
      status: response.statusCode as number,
      headers: response.headers,
      body: Buffer.concat(chunks).toString(),
      sentAt,
      answeredAt,
      certificateUntil: certificateUntil(response),
    };
  } catch (error) {
    throw new Fault(
      `${url.host} ${reasonOf(error)}`,
      'check the address, that the service runs, and a proxy in front of it',
      error,
    );
  }
}

/** How an event stream began. */
export interface StreamStart {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  /** Its first bytes. */
  first: string;
  /** Time until its first bytes, ms; undefined if there were none in time. */
  firstMs: number | undefined;
}

/** Opens a member's event stream, as a browser does, until its first event. */
export async function openStream(base: string, token: string): Promise<StreamStart> {
  const url = below(base, '/notification/connect');
  const headers = {
    Authorization: token,
    Accept: 'text/event-stream',
    'Accept-Encoding': 'gzip, deflate, br',
  };
  const start = performance.now();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), FIRST_EVENT_MS);
  let response: IncomingMessage | undefined;
  let firstMs: number | undefined;
  let first = '';
  try {
    response = await ask(url, { headers }, ending.signal);
    for await (const chunk of response) {
      firstMs = performance.now() - start;
      first = String(chunk);
      break;
    }
  } catch (error) {
    if (!ending.signal.aborted)
      throw new Fault(`${url.host} ${reasonOf(error)}`, 'the service’s log, and a proxy in front of it');
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
  return { status: response?.statusCode, headers: response?.headers ?? {}, first, firstMs };
}

/** How a socket began. */
export type SocketStart =
  /** With the status of an answer that is not a WebSocket's. */
  | { refused: string; status?: number | undefined }
  /** Engine.IO's first packet has arrived; with a token, also the answer to it: null if it is accepted. */
  | { openedMs: number; refusal?: string | null };

/** Opens a WebSocket of the Socket.IO protocol. @param token sent to be admitted, if given */
export function openSocket(base: string, token: string | undefined): Promise<SocketStart> {
  const url = below(base, '/socket.io/?EIO=4&transport=websocket');
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const start = performance.now();
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: FIRST_EVENT_MS });
    let openedMs: number | undefined;
    const done = (how: SocketStart) => {
      clearTimeout(timer);
      resolve(how);
      socket.terminate();
    };
    const timer = setTimeout(() => {
      if (openedMs === undefined) done({ refused: 'nothing arrives on it' });
      else done({ openedMs, refusal: 'no answer' });
    }, 2 * FIRST_EVENT_MS);
    socket.on('unexpected-response', (_, { statusCode: status }) =>
      done({ refused: `the answer is ${status}`, status }),
    );
    socket.on('error', (error) => done({ refused: `${url.host} ${reasonOf(error)}` }));
    socket.on('close', (code) => done({ refused: `it is closed with ${code}` }));
    socket.on('message', (data) => {
      const packet = String(data);
      if (packet.startsWith('0')) {
        openedMs = performance.now() - start;
        if (token === undefined) done({ openedMs });
        else socket.send(`40${JSON.stringify({ token })}`);
      } else if (/^4[04]/.test(packet) && openedMs !== undefined) {
        done({ openedMs, refusal: packet.startsWith('40') ? null : messageOf(packet.slice(2)) });
      }
    });
  });
}

const NOT_OURS = 'an answer that is not ours';

/** The text of a refusal, as of an error's body. */
export function messageOf(json: string): string {
  try {
    const { message, data, errors } = JSON.parse(json);
    const words = [message, ...(errors ?? data?.errors ?? [])].filter(Boolean);
    return words.join(': ').slice(0, 200) || NOT_OURS;
  } catch {
    return NOT_OURS;
  }
}
