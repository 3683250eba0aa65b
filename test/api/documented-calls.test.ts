import { expect } from 'chai';
import { expectDocumented } from '../support/api-documents.js';
import { service } from '../support/service.js';
import { type Numbers, type Prepared, prepare } from './board.js';
import { type DocumentedCall, documentedCalls } from './documented-calls.js';

/** Each call has a User-Agent of its own: a call without a token is identified by address and User-Agent. */
let agents = 0;

/** The records for calls that do not use them up. */
let lasting: Promise<Prepared> | undefined;

function board(): Promise<Prepared> {
  lasting ??= prepare();
  return lasting;
}

async function send(
  { call, body, text, headers }: DocumentedCall,
  prepared: Prepared,
  as: Record<string, string>,
): Promise<Response> {
  const { http } = await service();
  const [method = '', path = ''] = call.split(' ');
  const sent = text ? text(prepared) : body && JSON.stringify(body(prepared.numbers));
  const json = { 'Content-Type': 'application/json;charset=UTF-8' };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: keyof Numbers) => String(prepared.numbers[name]));
  return fetch(http + filled, {
    method,
    headers: { ...as, ...headers, ...(sent === undefined ? {} : json) },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** Makes the client known to the service first, as the web app does by listing its rooms, then makes the call. */
async function make(
  call: DocumentedCall,
  authorization: (token: string) => string,
  succeeds = true,
): Promise<Response> {
  const { http } = await service();
  const prepared = await (call.spends && succeeds ? prepare() : board());
  await call.first?.(prepared);
  agents += 1;
  const client = { 'User-Agent': `contract/${agents}` };
  const token = { Authorization: authorization(prepared.caller.token) };
  await fetch(`${http}/chatroom`, { headers: { ...client, ...token } });
  return send(call, prepared, { ...client, ...(call.anonymous ? {} : token) });
}

/** Fails where an array is empty or a field null: the board has something for each. */
function expectFilled(value: unknown, path = 'body'): void {
  expect(value, path).to.not.equal(null);
  if (Array.isArray(value)) expect(value, path).to.not.be.empty;
  if (typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value as object)) expectFilled(inner, `${path}.${name}`);
}

/** Fails unless the call has succeeded as documented, with every field filled. */
async function expectAnswer({ call }: DocumentedCall, answer: Response): Promise<void> {
  const [method = ''] = call.split(' ');
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    expectDocumented(method, answer.url, answer);
    expect(answer.status).to.equal(200);
    await answer.body?.cancel();
    return;
  }
  const text = await answer.text();
  expect(answer.status, text).to.equal(200);
  const body = JSON.parse(text);
  expectDocumented(method, answer.url, { status: 200, headers: answer.headers, body });
  expectFilled(body);
  if (method !== 'GET' && !('data' in body || 'id' in body)) expect(text).to.equal('{"status":200}\n');
  expect(text.at(-1), 'ends its line').to.equal('\n');
  if (method === 'GET')
    expect(body, 'legacy clients take a status for an error').not.to.have.property('status');
}

describe('every documented call', () => {
  for (const call of documentedCalls) {
    describe(`${call.name}: ${call.call}`, () => {
      it('answers exactly as documented', async () => {
        await expectAnswer(call, await make(call, (token) => token));
      });

      if (!call.anonymous) {
        it('accepts the token after Bearer as well', async () => {
          await expectAnswer(call, await make(call, (token) => `Bearer ${token}`));
        });

        it('is refused with a bad token, whether it needs one or not', async () => {
          const answer = await make(call, () => 'not-a-token', false);
          expect(answer.status).to.equal(401);
          expect(await answer.json()).to.include({ status: 401, message: 'UNAUTHORIZED' });
        });
      }

      const isPublic = /^GET \/(community|adopt)\//.test(call.call);
      if (!call.anonymous && !isPublic) {
        it('is refused without a token', async () => {
          const answer = await send(call, await board(), {});
          expect(answer.status).to.equal(401);
          expect(await answer.json()).to.deep.equal({
            status: 401,
            message: 'UNAUTHORIZED',
            errors: ['the Authorization header is missing'],
          });
        });
      }

      it('ignores _csrf and unknown fields wherever they are sent', async () => {
        const { body, text } = call;
        const withCsrf: DocumentedCall = {
          ...call,
          call: `${call.call}${call.call.includes('?') ? '&' : '?'}_csrf=1&_csrf=2&later=x`,
          headers: { ...call.headers, 'X-CSRF-TOKEN': '1' },
          ...(body ? { body: (numbers) => ({ ...body(numbers), _csrf: {}, later: [null] }) } : {}),
          ...(text ? { text: (prepared) => `${text(prepared)}&_csrf=1` } : {}),
        };
        await expectAnswer(call, await make(withCsrf, (token) => token));
      });
    });
  }

  it('is one of the 23 that the interface lists', () => {
    expect(documentedCalls).to.have.length(23);
  });
});
