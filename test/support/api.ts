import type { Actor } from '../../domain/kernel/actor.js';
import { type Call, type Reply, type RestClient, restClient } from './rest.js';
import { service, type TokenClaims } from './service.js';

export type { Reply } from './rest.js';

/** Requests to the service in this process, without a token. */
export const anyone = restClient(async () => (await service()).http);

/** One such request. */
export const call = <T = unknown>(path: string, request?: Call): Promise<Reply<T>> =>
  anyone.call<T>(path, request);

/** The error body of the contract, section 2, for deep comparison. */
export function errorBody(status: number, message: string, ...errors: string[]) {
  return { status, message, errors };
}

/** A member with a token; requests are made as this member. */
export interface Member extends RestClient {
  email: string;
  nickname: string;
  token: string;
  /** Member number. */
  no: number;
  /** For calling use cases directly. */
  actor: Actor;
}

let counter = 0;

/** A new member, known to the service in this process. */
export async function member(claims: TokenClaims & { email?: string } = {}): Promise<Member> {
  counter += 1;
  const { email = `member-${process.pid}-${counter}@example.org`, ...rest } = claims;
  const nickname = claims.nickname ?? `member ${counter}`;
  const { token, domain, http } = await service();
  const jwt = await token(email, { ...rest, nickname });
  const { actor } = await domain.members.authenticate(jwt);
  return { email, nickname, token: jwt, no: actor.no, actor, ...restClient(() => http, jwt) };
}
