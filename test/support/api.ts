import { expect } from 'chai';
import type { Actor } from '../../domain/kernel/actor.js';
import { type Call, type Reply, type RestClient, restClient } from './rest.js';
import { service, type TokenClaims } from './service.js';

export type { Reply } from './rest.js';

/** Requests to the service in this process, without a token. */
export const anyone = restClient(async () => (await service()).http);

/** One such request. */
export const call = <T = unknown>(path: string, request?: Call): Promise<Reply<T>> =>
  anyone.call<T>(path, request);

/**
 * Fails unless a call is refused with the error body of the contract, section 2.
 * @param errors texts of the body, or patterns; none: any texts
 */
export async function expectError(
  asked: Promise<Reply>,
  status: number,
  code: string,
  ...errors: (string | RegExp)[]
): Promise<Reply> {
  const answer = await asked;
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
  if (status === 401) expect(answer.headers.get('www-authenticate')).to.match(/^Bearer realm="adoption"/);
  expect(answer.body).to.have.all.keys('status', 'message', 'errors');
  expect(answer.body).to.include({ status, message: code });
  const texts = (answer.body as { errors: string[] }).errors;
  expect(texts).to.be.an('array').that.is.not.empty;
  if (errors.length > 0) expect(texts, answer.text).to.have.length(errors.length);
  for (const [i, expected] of errors.entries()) {
    if (typeof expected === 'string') expect(texts[i]).to.equal(expected);
    else expect(texts[i]).to.match(expected);
  }
  return answer;
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
