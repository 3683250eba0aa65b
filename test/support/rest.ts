import { expectDocumented } from './api-documents.js';
import { WAIT_MS } from './eventually.js';

/** An answer as a client sees it; `body` is parsed where the answer is JSON. */
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
  /** Sent unchanged. */
  raw?: string;
  headers?: Record<string, string>;
}

/** Requests under one token, or none. */
export interface RestClient {
  /** @param base the process to ask; by default the client's own choice */
  call<T = unknown>(path: string, request?: Call, base?: string): Promise<Reply<T>>;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Reply<T>>;
  post<T = unknown>(path: string, json?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  patch<T = unknown>(path: string, json?: unknown): Promise<Reply<T>>;
  delete<T = unknown>(path: string): Promise<Reply<T>>;
}

/** One request. The answer to a documented call is checked against /openapi.json. */
async function request<T = unknown>(url: string, call: Call = {}): Promise<Reply<T>> {
  const { method = 'GET', json, raw, headers = {} } = call;
  const body = json === undefined ? raw : JSON.stringify(json);
  const answer = await fetch(url, {
    method,
    headers: { ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    signal: AbortSignal.timeout(WAIT_MS),
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  // The answer to HEAD has a type and no body.
  const isJson = text !== '' && answer.headers.get('content-type')?.startsWith('application/json');
  const reply = {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (isJson ? JSON.parse(text) : undefined) as T,
  };
  expectDocumented(method, url, reply);
  return reply;
}

/** @param baseOf address for the next request */
export function restClient(baseOf: () => string | Promise<string>, token?: string): RestClient {
  const call = async <T>(path: string, { headers, ...rest }: Call = {}, base?: string) =>
    request<T>((base ?? (await baseOf())) + path, {
      ...rest,
      headers: { ...(token === undefined ? {} : { Authorization: token }), ...headers },
    });
  return {
    call,
    get: (path, headers = {}) => call(path, { headers }),
    post: (path, json, headers = {}) => call(path, { method: 'POST', json, headers }),
    patch: (path, json) => call(path, { method: 'PATCH', json }),
    delete: (path) => call(path, { method: 'DELETE' }),
  };
}

/** @returns whether a process is ready to serve: /readyz answers 200 */
export async function isReady(base: string): Promise<boolean> {
  const answer = await request(`${base}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}

/** The sum of a metric's values; 0 where nothing was counted yet. @param series name, with those labels that count */
export async function metric(base: string, series: string): Promise<number> {
  const { text } = await request(`${base}/metrics`);
  const [, wanted = '', labels = ''] = /^(\w+)\{?(.*?)\}?$/.exec(series) ?? [];
  return [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)]
    .filter(([, name, has = '']) => name === wanted && labels.split(',').every((one) => has.includes(one)))
    .reduce((sum, [, , , value]) => sum + Number(value), 0);
}
