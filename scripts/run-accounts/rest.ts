import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time for an answer, ms. */
const TIMEOUT_MS = 8_000;

/** An answer of the service that is no success. */
export interface Refusal {
  status: number;
  code: string;
  /** Whether the request certainly changed nothing. */
  isCertain: boolean;
  retryAfterMs: number;
}

/** What came of a request: the answer, a refusal, or, where nobody knows whether it was done, why. */
export type Outcome<T> = { answer: T } | { refusal: Refusal } | { unknown: string };

export interface RestCall {
  base: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** None: the call is sent without an Authorization header. */
  token?: string | undefined;
  /** As User-Agent. */
  client: string;
  body?: object | undefined;
}

interface ErrorBody {
  status?: number;
  message?: string;
  errors?: string[];
  retryAfterMs?: number;
}

/** The refusal in an error body; a 503 is certain only if the process refused to take the work on. */
export function refusalOf({ message, errors, retryAfterMs }: ErrorBody, status: number): Refusal {
  const shed = status === 503 && errors?.[0]?.includes('overloaded') === true;
  return {
    status,
    code: shed ? 'OVERLOADED' : (message ?? 'no code'),
    isCertain: status < 500 || shed,
    retryAfterMs: retryAfterMs ?? 1_000,
  };
}

/** The innermost reason of a failed request. */
export function reasonOf(error: unknown): string {
  let inner = error as Error & { code?: string };
  while (inner.cause instanceof Error) inner = inner.cause as Error & { code?: string };
  return inner.code && typeof inner.code === 'string' ? inner.code : inner.message || inner.name;
}

/** Makes a REST call. Never throws. */
export async function rest<T>({ base, method, path, token, client, body }: RestCall): Promise<Outcome<T>> {
  try {
    const response = await fetch(base + path, {
      method,
      headers: {
        'User-Agent': client,
        ...(token === undefined ? {} : { Authorization: token }),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json()) as T;
    if (response.ok) return { answer };
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    const refusal = refusalOf(answer as ErrorBody, response.status);
    return { refusal: Number.isNaN(seconds) ? refusal : { ...refusal, retryAfterMs: seconds * 1_000 } };
  } catch (error) {
    return { unknown: reasonOf(error) };
  }
}

/** How often a call is made, where a busy process or a limit of rate refuses it. */
const ATTEMPTS = 10;

/** Makes a REST call, and again while it is refused for the time being. Never throws. */
export async function restInTime<T>(call: RestCall): Promise<Outcome<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await rest<T>(call);
    if (!('refusal' in outcome)) return outcome;
    const { status, isCertain, retryAfterMs } = outcome.refusal;
    if (attempt === ATTEMPTS || !isCertain || (status !== 429 && status !== 503)) return outcome;
    await sleep(retryAfterMs);
  }
}

/** Makes a REST call that must succeed. @throws Error naming call and answer */
export async function must<T>(call: RestCall): Promise<T> {
  const outcome = await restInTime<T>(call);
  if ('answer' in outcome) return outcome.answer;
  const { method, path } = call;
  if ('unknown' in outcome) throw new Error(`${method} ${path}: ${outcome.unknown}`);
  throw new Error(`${method} ${path}: answered ${outcome.refusal.status} ${outcome.refusal.code}`);
}
