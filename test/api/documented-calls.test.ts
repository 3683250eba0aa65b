import { expect } from 'chai';
import { service } from '../support/service.js';
import { type Numbers, type Prepared, prepare } from './board.js';
import { type DocumentedCall, documentedCalls } from './documented-calls.js';
import { expectShape } from './shapes.js';

/** A User-Agent of each test's own: a call without a token is known by address and User-Agent. */
let agents = 0;

interface Sent {
  path: string;
  init: RequestInit;
}

function requestOf(call: DocumentedCall, prepared: Prepared, as: Record<string, string>): Sent {
  const body = call.text ? call.text(prepared) : call.body && JSON.stringify(call.body(prepared.numbers));
  return {
    path: call.path.replace(/\{(\w+)\}/g, (_, name: keyof Numbers) => String(prepared.numbers[name])),
    init: {
      method: call.method,
      headers: { ...as, ...call.headers },
      ...(body === undefined ? {} : { body }),
    },
  };
}

/** What calls are made upon that leave it there. */
let lasting: Promise<Prepared> | undefined;

function board(): Promise<Prepared> {
  lasting ??= prepare();
  return lasting;
}

/** Makes the call known to its caller first, as the web app does by listing its rooms, then makes it. */
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
  const { path, init } = requestOf(call, prepared, { ...client, ...(call.authorization ? token : {}) });
  return fetch(http + path, init);
}

async function expectAnswer(call: DocumentedCall, answer: Response): Promise<void> {
  if (call.answer === 'event stream') {
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^text\/event-stream\b/);
    expect(answer.headers.get('x-accel-buffering')).to.equal('no');
    expect(answer.headers.get('connection')).to.equal('keep-alive');
    await answer.body?.cancel();
    return;
  }
  const text = await answer.text();
  expect(answer.status, text).to.equal(200);
  expect(answer.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
  const body: unknown = JSON.parse(text);
  if (call.answer === 'status body') expect(text).to.equal('{"status":200}');
  else if (call.answer === 'like-count body') {
    expectShape(body, { status: 'integer', data: 'integer' });
    expect(body).to.have.property('status', 200);
  } else {
    expectShape(body, call.answer);
    expect(body, 'legacy clients take a truthy status as an error').not.to.have.property('status');
  }
}

describe('every documented call', () => {
  for (const call of documentedCalls) {
    describe(`${call.name}: ${call.method} ${call.path}`, () => {
      it('answers to the letter', async () => {
        await expectAnswer(call, await make(call, (token) => token));
      });

      if (call.authorization) {
        it('takes the token after Bearer as well', async () => {
          await expectAnswer(call, await make(call, (token) => `Bearer ${token}`));
        });

        it('is refused with a bad token, whether it needs one or not', async () => {
          const answer = await make(call, () => 'not-a-token', false);
          expect(answer.status).to.equal(401);
          expect(await answer.json()).to.include({ status: 401, message: 'UNAUTHORIZED' });
        });
      }

      const isPublic = call.method === 'GET' && /^\/(community|adopt)\//.test(call.path);
      if (call.authorization && !isPublic) {
        it('is refused without a token', async () => {
          const { http } = await service();
          const { path, init } = requestOf(call, await board(), {});
          const answer = await fetch(http + path, init);
          expect(answer.status).to.equal(401);
          expect(await answer.json()).to.deep.equal({
            status: 401,
            message: 'UNAUTHORIZED',
            errors: ['the Authorization header is missing'],
          });
        });
      }

      it('ignores _csrf and unknown fields wherever they are sent', async () => {
        const { body } = call;
        const withCsrf: DocumentedCall = {
          ...call,
          path: `${call.path}${call.path.includes('?') ? '&' : '?'}_csrf=1&_csrf=2&later=x`,
          headers: { ...call.headers, 'X-CSRF-TOKEN': '1' },
          ...(body
            ? { body: (numbers: Numbers) => ({ ...(body(numbers) as object), _csrf: {}, later: [null] }) }
            : {}),
          ...(call.text ? { text: (prepared: Prepared) => `${call.text?.(prepared)}&_csrf=1` } : {}),
        };
        await expectAnswer(call, await make(withCsrf, (token) => token));
      });
    });
  }

  it('is of the number that the interface lists', () => {
    expect(documentedCalls).to.have.length(23);
  });
});
