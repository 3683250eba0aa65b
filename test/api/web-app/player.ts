import { expect } from 'chai';
import type { Member } from '../../support/api.js';
import { expectDocumented, expectMessage } from '../../support/api-documents.js';
import { type Client, connect } from '../../support/sockets.js';
import { openPageStream, type PageStream } from './page-stream.js';
import {
  type CallStep,
  type Expected,
  type HearStep,
  type JoinStep,
  JSON_TYPE,
  type Kept,
  type Step,
  type StreamStep,
} from './recording.js';

/** What the player needs of a member. */
type Player = Pick<Member, 'no' | 'email' | 'nickname' | 'token'>;

/** The service that a recording is played to, in one process or in several. */
export interface World {
  author: Player;
  asker: Player;
  /** Number of an adoption post by the author. */
  sale: number;
  /** Base address of REST for the next connection: of several processes, another each time. */
  http(): string;
  /** Base address of the sockets, likewise. */
  gateway(): string;
}

/** Origin of the app's pages. */
const ORIGIN = 'http://localhost:3000';

/** Content types that need no preflight. */
const SIMPLE_TYPES = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data'];

/** One member's browser. */
interface Browser {
  who: Player;
  headers: { Origin: string; 'User-Agent': string };
  client: Client | undefined;
  stream: PageStream | undefined;
  /** Index of the next event, by event name. */
  next: Map<string, number>;
}

function openBrowser(who: Player, system: string): Browser {
  const headers = { Origin: ORIGIN, 'User-Agent': `Mozilla/5.0 (${system}) Firefox/104.0` };
  return { who, headers, client: undefined, stream: undefined, next: new Map() };
}

/** Replaces `$name` in a text by the kept value; a text that is only a name becomes the value itself. */
function fill(text: string, kept: Kept): unknown {
  const keptAs = (name: string): unknown => {
    if (!(name in kept)) throw new Error(`nothing was kept as ${name}`);
    return kept[name];
  };
  if (/^\$\w+$/.test(text)) return keptAs(text.slice(1));
  return text.replace(/\$(\w+)/g, (_, name: string) => String(keptAs(name)));
}

/** Fills every text in a value. */
function fillAll(value: unknown, kept: Kept): unknown {
  if (typeof value === 'string') return fill(value, kept);
  if (Array.isArray(value)) return value.map((one) => fillAll(one, kept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillAll(one, kept)]));
}

function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((inner, name) => (inner as Kept | undefined)?.[name], value);
}

/** Fails unless a value meets the expectations, and keeps the values to be kept. */
function check(value: unknown, { holds = {}, keep = {} }: Expected, kept: Kept): void {
  for (const [path, wanted] of Object.entries(holds)) {
    const found = valueAt(value, path);
    if (typeof wanted === 'function')
      expect(wanted(found, kept), `${path}: ${JSON.stringify(found)}`).to.equal(true);
    else expect(found, path || 'the whole').to.deep.equal(fillAll(wanted, kept));
  }
  for (const [name, path] of Object.entries(keep)) kept[name] = valueAt(value, path);
}

/** Plays steps one after another, as the app's pages and its server do. */
export async function play(steps: readonly Step[], world: World): Promise<void> {
  const browsers = {
    author: openBrowser(world.author, 'Windows NT 10.0; Win64; x64'),
    asker: openBrowser(world.asker, 'X11; Linux x86_64'),
  };
  const kept: Kept = { sale: world.sale, now: Date.now() };
  for (const name of ['author', 'asker'] as const) {
    const { no, email, nickname } = world[name];
    Object.assign(kept, { [`${name}No`]: no, [`${name}Email`]: email, [`${name}Name`]: nickname });
  }
  try {
    for (const [i, step] of steps.entries()) {
      try {
        if ('call' in step) {
          await playCall(step, world, step.who === 'server' ? undefined : browsers[step.who], kept);
        } else if ('join' in step) await playJoin(step, world, browsers[step.who], kept);
        else if ('hears' in step) await playHear(step, browsers[step.who], kept);
        else await playStream(step, world, browsers[step.who], kept);
      } catch (error) {
        (error as Error).message = `step ${i + 1}, the ${step.who} ${step.does}: ${(error as Error).message}`;
        throw error;
      }
    }
  } finally {
    await Promise.all(Object.values(browsers).map(({ stream }) => stream?.close()));
  }
}

async function playCall(
  step: CallStep,
  world: World,
  browser: Browser | undefined,
  kept: Kept,
): Promise<void> {
  const [method = '', path = ''] = String(fill(step.call, kept)).split(' ');
  const body = typeof step.body === 'string' ? String(fill(step.body, kept)) : step.body?.(kept);
  const type = step.type ?? (body === undefined ? undefined : JSON_TYPE);
  const headers = {
    ...(browser && step.token !== false ? { Authorization: browser.who.token } : {}),
    ...(type ? { 'Content-Type': type } : {}),
  };
  const url = world.http() + path;
  if (browser) await preflight(url, method, headers);
  const answer = await fetch(url, {
    method,
    headers: { ...browser?.headers, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  expect(answer.status, text).to.equal(step.status ?? 200);
  if (browser) expect(answer.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
  const value: unknown = JSON.parse(text);
  expectDocumented(method, path, { status: answer.status, headers: answer.headers, body: value });
  if (method === 'GET' && answer.status === 200) {
    expect(value, 'the app takes a status for an error').to.not.have.property('status');
  }
  check(value, step, kept);
}

/** Sends the preflight of a browser, if the call needs one. */
async function preflight(url: string, method: string, headers: Record<string, string>): Promise<void> {
  const asked = Object.entries(headers)
    .filter(([name, value]) => name !== 'Content-Type' || !SIMPLE_TYPES.includes(value))
    .map(([name]) => name.toLowerCase());
  if (asked.length === 0 && ['GET', 'HEAD', 'POST'].includes(method)) return;
  const answer = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      Origin: ORIGIN,
      'Access-Control-Request-Method': method,
      ...(asked.length > 0 ? { 'Access-Control-Request-Headers': asked.join(',') } : {}),
    },
  });
  const listed = (name: string) => (answer.headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);
  expect(answer.ok, `the preflight answers ${answer.status}`).to.equal(true);
  expect(answer.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
  expect(listed('access-control-allow-methods')).to.include(method.toLowerCase());
  if (asked.length > 0) expect(listed('access-control-allow-headers')).to.include.members(asked);
}

async function playJoin(step: JoinStep, world: World, browser: Browser, kept: Kept): Promise<void> {
  browser.client ??= await connect(browser.who, { extraHeaders: browser.headers }, world.gateway());
  const ack = await browser.client.ask('room:join', { chatNo: fill(step.join, kept) });
  expect(ack.status, JSON.stringify(ack)).to.equal(200);
  check(ack, step, kept);
}

async function playHear(step: HearStep, browser: Browser, kept: Kept): Promise<void> {
  const { client, next } = browser;
  if (!client) throw new Error('no socket is open');
  const from = next.get(step.hears) ?? 0;
  const placeOf = (value: unknown) => client.heard(step.hears).indexOf(value);
  const event = await client.next(step.hears, (value) => {
    if (placeOf(value) < from) return false;
    // A message must be the next one; other events carry state, which may repeat.
    if (step.hears === 'message') return true;
    return Object.entries(step.holds ?? {}).every(
      ([path, wanted]) => valueAt(value, path) === fillAll(wanted, kept),
    );
  });
  next.set(step.hears, placeOf(event) + 1);
  check(event, step, kept);
}

async function playStream(step: StreamStep, world: World, browser: Browser, kept: Kept): Promise<void> {
  const { who, headers } = browser;
  if (step.stream === 'open') {
    const lastEventId = String(fill(step.lastEventId ?? '', kept));
    const own = { Authorization: who.token, 'Last-Event-ID': lastEventId };
    await preflight(`${world.http()}/notification/connect`, 'GET', own);
    browser.stream = await openPageStream(world.http, { ...headers, ...own });
  }
  const { stream } = browser;
  if (!stream) throw new Error('no stream is open');
  if (step.stream === 'lose') await stream.lose();
  else if (step.stream === 'close') await stream.close();
  else check(await nextEvent(stream, who.no, kept), step, kept);
}

/** The next event: a record, or the greeting. Its id must be the member's next number. */
async function nextEvent(stream: PageStream, memberNo: number, kept: Kept): Promise<unknown> {
  const { id, data } = await stream.next();
  const last = (kept.lastEventId as string | undefined) ?? id;
  const isRecord = data.startsWith('{');
  expect(id, 'nothing missed, nothing twice').to.equal(
    isRecord ? `${memberNo}_${Number(last.split('_')[1]) + 1}` : last,
  );
  kept.lastEventId = id;
  if (!isRecord) return data;
  const record = JSON.parse(data) as { type: string };
  expectMessage('notification', record, 'eventStream');
  // Whether an article is hot depends on the rest of the board.
  return /^document(Hot|Week)$/.test(record.type) ? nextEvent(stream, memberNo, kept) : record;
}
