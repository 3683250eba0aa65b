import { issueToken } from '../../domain/members/index.js';
import { type Config, loadConfig } from '../../domain/platform/config.js';
import type { Call, Reply } from './api.js';
import type { TokenClaims } from './service.js';
import { openStream } from './streams.js';

/** A member of a cluster: known by the import, with adoption posts of their own. */
export interface ClusterMember {
  email: string;
  nickname: string;
  token: string;
  /** Member number. */
  no: number;
  /** Numbers of their adoption posts. */
  posts: number[];
  /** A request to one http process: the given one, else each in turn. */
  call<T = unknown>(path: string, request?: Call, base?: string): Promise<Reply<T>>;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Reply<T>>;
  post<T = unknown>(path: string, json?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  delete<T = unknown>(path: string): Promise<Reply<T>>;
}

export interface ClusterRoom {
  author: ClusterMember;
  asker: ClusterMember;
  saleNo: number;
  saleTitle: string;
  chatNo: number;
}

export interface ClusterMembers {
  /** A member nobody else in this file uses. */
  member(): Promise<ClusterMember>;
  /** The room of two members about a post of the first. */
  openRoomOf(author: ClusterMember, asker: ClusterMember, post?: number): Promise<ClusterRoom>;
  /** The room of two new members. */
  openRoom(): Promise<ClusterRoom>;
  token(email: string, claims?: TokenClaims): Promise<string>;
  /** A request without a token. */
  call<T = unknown>(path: string, request?: Call, base?: string): Promise<Reply<T>>;
}

/** Members of a cluster, by its public doors alone. */
export function createClusterMembers(
  http: string[],
  secret: string,
  members: number,
  postsEach: number,
): ClusterMembers {
  const config: Config = loadConfig({ JWT_SECRET: secret, NODE_ENV: 'test' }, '/nonexistent');
  let used = 0;
  let turn = 0;

  async function call<T>(path: string, request: Call = {}, base?: string): Promise<Reply<T>> {
    const { method = 'GET', json, raw, headers = {} } = request;
    const body = json === undefined ? raw : JSON.stringify(json);
    turn += 1;
    const answer = await fetch((base ?? http[turn % http.length]) + path, {
      method,
      headers: { ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as T,
    };
  }

  // A clock that is an hour wrong must not make the members' tokens invalid.
  const token = (email: string, { ttl = '3h', ...claims }: TokenClaims = {}) =>
    issueToken(config, { email, ...claims, ttl });

  /** The stream's first event tells a member their number. */
  async function numberOf(jwt: string): Promise<number> {
    turn += 1;
    const stream = await openStream({ token: jwt }, { base: http[turn % http.length] as string });
    const { data } = await stream.next();
    stream.close();
    return Number(/userId=(\d+)/.exec(data)?.[1]);
  }

  async function member(): Promise<ClusterMember> {
    used += 1;
    if (used > members) throw new Error('the import brought too few members');
    const [email, nickname] = [`member-${used}@example.org`, `member ${used}`];
    const first = (used - 1) * postsEach + 1;
    const jwt = await token(email);
    const as = (headers: Record<string, string> = {}) => ({ Authorization: jwt, ...headers });
    return {
      email,
      nickname,
      token: jwt,
      no: await numberOf(jwt),
      posts: Array.from({ length: postsEach }, (_, i) => first + i),
      call: (path, request = {}, base) =>
        call(path, { ...request, headers: { ...as(), ...request.headers } }, base),
      get: (path, headers) => call(path, { headers: as(headers) }),
      post: (path, json, headers) => call(path, { method: 'POST', json, headers: as(headers) }),
      delete: (path) => call(path, { method: 'DELETE', headers: as() }),
    };
  }

  async function openRoomOf(author: ClusterMember, asker: ClusterMember, post = 0): Promise<ClusterRoom> {
    const saleNo = author.posts[post] as number;
    const opened = await asker.post('/chatroom', { saleNo, createMember: author.no });
    if (opened.status !== 200) throw new Error(`no room: ${opened.text}`);
    const { body } = await asker.get<{ chatNo: number; saleTitle: string }[]>(`/chatroom?saleNo=${saleNo}`);
    const [room] = body;
    if (!room) throw new Error('the room that was opened is not listed');
    return { author, asker, saleNo, saleTitle: room.saleTitle, chatNo: room.chatNo };
  }

  return {
    member,
    openRoomOf,
    openRoom: async () => openRoomOf(await member(), await member()),
    token,
    call,
  };
}
