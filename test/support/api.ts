import type { Actor } from '../../domain/kernel/actor.js';
import { service, type TokenClaims } from './service.js';

/** An answer as a client sees it. `body` is parsed where there is JSON. */
export interface Reply<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

export interface Call {
  method?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string;
  headers?: Record<string, string>;
}

/** One request to the REST port, without a token unless a header says so. */
export async function call<T = unknown>(path: string, request: Call = {}): Promise<Reply<T>> {
  const { http } = await service();
  const { method = 'GET', json, raw, headers = {} } = request;
  const body = json === undefined ? raw : JSON.stringify(json);
  const answer = await fetch(http + path, {
    method,
    headers: { ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  // The answer to HEAD has a type and no body.
  const isJson = text !== '' && answer.headers.get('content-type')?.startsWith('application/json');
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (isJson ? JSON.parse(text) : undefined) as T,
  };
}

/** Requests without a token. */
export const anyone = {
  get: <T = unknown>(path: string) => call<T>(path),
  post: <T = unknown>(path: string, json?: unknown) => call<T>(path, { method: 'POST', json }),
  patch: <T = unknown>(path: string, json?: unknown) => call<T>(path, { method: 'PATCH', json }),
  delete: <T = unknown>(path: string) => call<T>(path, { method: 'DELETE' }),
};

/** The error body of the contract, section 2, for deep comparison. */
export function errorBody(status: number, message: string, ...errors: string[]) {
  return { status, message, errors };
}

/** A member with a token, as whom requests are made. */
export interface Member {
  email: string;
  nickname: string;
  token: string;
  /** Member number. */
  no: number;
  /** As whom use cases are called directly. */
  actor: Actor;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Reply<T>>;
  post<T = unknown>(path: string, json?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  patch<T = unknown>(path: string, json?: unknown): Promise<Reply<T>>;
  delete<T = unknown>(path: string): Promise<Reply<T>>;
}

let counter = 0;

/** A new member, known to the service. */
export async function member(claims: TokenClaims & { email?: string } = {}): Promise<Member> {
  counter += 1;
  const { email = `member-${process.pid}-${counter}@example.org`, ...rest } = claims;
  const nickname = claims.nickname ?? `member ${counter}`;
  const { token, domain } = await service();
  const jwt = await token(email, { ...rest, nickname });
  const { actor } = await domain.members.authenticate(jwt);
  const as = (headers: Record<string, string> = {}) => ({ Authorization: jwt, ...headers });
  return {
    email,
    nickname,
    token: jwt,
    no: actor.no,
    actor,
    get: (path, headers) => call(path, { headers: as(headers) }),
    post: (path, json, headers) => call(path, { method: 'POST', json, headers: as(headers) }),
    patch: (path, json) => call(path, { method: 'PATCH', json, headers: as() }),
    delete: (path) => call(path, { method: 'DELETE', headers: as() }),
  };
}
