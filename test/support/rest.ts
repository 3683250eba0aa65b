import { randomUUID } from 'node:crypto';
import type { Actor } from '../../domain/kernel/actor.js';
import type { service } from './service.js';

type Service = Awaited<ReturnType<typeof service>>;

/** What came back: the parsed body, of the type the caller expects it to have. */
export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** REST calls under one base address, with one member's token or none. */
export interface RestClient {
  get<T = unknown>(path: string): Promise<Answer<T>>;
  post<T = unknown>(path: string, body?: unknown): Promise<Answer<T>>;
  patch<T = unknown>(path: string, body?: unknown): Promise<Answer<T>>;
  delete<T = unknown>(path: string): Promise<Answer<T>>;
}

/** @param body a string is sent as it is, to send what JSON.stringify would not */
export function restClient(base: string, token?: string): RestClient {
  async function call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: token }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json;charset=UTF-8' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as T };
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}

/** A new member of the running service: who it is, and the client that calls as it. */
export async function joinAs(
  { http, domain, token }: Pick<Service, 'http' | 'domain' | 'token'>,
  nickname: string,
  claims: { role?: 'ADMIN'; profile?: string } = {},
): Promise<{ actor: Actor; token: string; rest: RestClient }> {
  const jwt = await token(`${nickname.replace(/\W/g, '')}-${randomUUID()}@example.org`, {
    nickname,
    ...claims,
  });
  const { actor } = await domain.members.authenticate(jwt);
  return { actor, token: jwt, rest: restClient(http, jwt) };
}

/** The error body of the contract, section 2, for deep comparison. */
export function errorBody(status: number, message: string, ...errors: string[]) {
  return { status, message, errors };
}
