import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose';
import { InvalidArguments } from '../command/run-command.js';
import { forEachConcurrently } from '../load/pacing.js';
import type { Author } from './accounts.js';
import { must } from './rest.js';

/** Adoption posts, the newest ones, among which one of the members' own is searched. */
const POSTS = 50;

/** Tokens whose members are asked for at the same time. */
const CONCURRENCY = 16;

/** @throws InvalidArguments */
function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidArguments([`--tokens: ${(error as Error).message}`]);
  }
}

/** The e-mail address in a token. @throws InvalidArguments if it is none */
function emailIn(token: string, number: number): string {
  try {
    return decodeJwt(token.replace(/^Bearer /, '')).sub ?? '';
  } catch {
    throw new InvalidArguments([`--tokens: the ${number}. line is no access token`]);
  }
}

/** The member of a token, as the service knows them. */
export function readCaller(base: string, client: string, token: string) {
  const call = { base, token, client, method: 'GET', path: '/me' } as const;
  return must<{ memberNo: number; nickname: string; role: string }>(call);
}

/**
 * Reads access tokens, one a line, and asks the service whose they are.
 * @throws InvalidArguments if the file cannot be read, or has fewer than two
 */
export async function readTokens(base: string, client: string, path: string): Promise<Author[]> {
  const lines = [
    ...new Set(
      readFile(path)
        .split('\n')
        .flatMap((line) => line.trim() || []),
    ),
  ];
  const tokens = lines.map((token, i) => ({ token, email: emailIn(token, i + 1) }));
  const [first] = tokens;
  if (!first || tokens.length < 2)
    throw new InvalidArguments(['--tokens: two members at least are needed, one token a line']);
  const call = { base, token: first.token, client, method: 'GET', path: '/adopt/render' } as const;
  const posts = (await must<{ id: number }[]>(call)).slice(0, POSTS).map(({ id }) => id);
  const members: Author[] = [];
  await forEachConcurrently(tokens, CONCURRENCY, async ({ token, email }, i) => {
    const { memberNo, nickname } = await readCaller(base, client, token);
    members[i] = { no: memberNo, nickname, email, token, posts };
  });
  return members;
}
