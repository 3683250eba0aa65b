import { expect } from 'chai';
import fc from 'fast-check';
import { expectDocumented, expectValid, openApi } from '../../support/api-documents.js';
import { WAIT_MS } from '../../support/eventually.js';
import { headerText, tokens } from './tokens.js';
import { jsonOf, near, rarely, type Schema, wild } from './values.js';

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

/** Numbers that articles and comments have from the beginning. */
export const few = [1, 2, 3, 4, 5];
const known = {
  ...{ id: few, boardId: few, parentId: [0, ...few] },
  ...{ chatNo: [1], saleNo: [1], createMember: [1, 2], senderNo: [1, 2] },
};

const plainText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** A value as part of a path or query. */
function textOf(value: unknown): string {
  const text = plainText(value);
  // Sent as it is: a percent sign without a number.
  if (text.startsWith('%')) return text;
  return encodeURIComponent(text.slice(0, 2_000).replace(/\p{Surrogate}/gu, ''));
}

/** Requests of one documented operation, and some of other methods. */
function requestsOf(path: string, method: string): fc.Arbitrary<Request> {
  const { parameters = [], requestBody } = openApi.paths[path]?.[method] ?? {};
  const placed = (schema: Schema) =>
    schema.type === 'integer'
      ? fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>(...few, 1) }, near(schema))
      : near(schema);
  const values = parameters.map(({ name, in: place, schema }) =>
    fc.tuple(
      fc.constant({ name, place }),
      place === 'path' ? placed(schema) : fc.option(placed(schema), { nil: undefined, freq: 3 }),
    ),
  );
  const bodies = Object.entries(requestBody?.content ?? {});
  const body = bodies.map(([type, { schema }]) =>
    jsonOf(near(schema as Schema, { known })).map((text) => ({ type, text })),
  );
  return fc
    .record({
      method: rarely(method.toUpperCase(), fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD')),
      values: fc.tuple(...values),
      more: rarely(
        '',
        wild.map((value) => `&page=${textOf(value)}`),
      ),
      token: rarely('TOKEN', fc.oneof(fc.constantFrom('', 'OTHER'), tokens)),
      type: rarely(
        '',
        fc.constantFrom('text/plain', 'application/json; charset=utf-16', 'multipart/form-data'),
      ),
      body: body.length > 0 ? fc.oneof(...body) : fc.constant({ type: 'application/json', text: '{}' }),
    })
    .map((given) => {
      const at = (place: string) =>
        given.values.filter(([one, value]) => one.place === place && value !== undefined);
      const filled = at('path').reduce(
        (so, [{ name }, value]) => so.replace(`{${name}}`, textOf(value)),
        path,
      );
      const query = at('query').map(([{ name }, value]) => `${name}=${textOf(value)}`);
      const headers = at('header').map(([{ name }, value]) => [name, headerText(plainText(value))]);
      const hasBody = !['GET', 'HEAD'].includes(given.method);
      return {
        method: given.method,
        path: `${filled}?${query.join('&')}${given.more}`,
        headers: {
          'Content-Type': given.type || given.body.type,
          Authorization: headerText(given.token),
          ...Object.fromEntries(headers),
        },
        body: hasBody ? given.body.text : undefined,
      };
    });
}

const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => requestsOf(path, method)),
);

/** @param tokens that stand for a name in the Authorization header */
export async function sendRequest(
  base: string,
  tokens: Record<string, string>,
  { path, headers, ...rest }: Request,
): Promise<void> {
  const { Authorization = '' } = headers;
  const request = { ...rest, headers: { ...headers, Authorization: tokens[Authorization] ?? Authorization } };
  const answer = await fetch(base + path, {
    ...request,
    signal: AbortSignal.timeout(WAIT_MS),
  } as RequestInit);
  expect(answer.status).to.be.below(500);
  const type = answer.headers.get('content-type') ?? '';
  const isStream = type.startsWith('text/event-stream');
  const text = isStream ? '' : await answer.text();
  if (isStream) await answer.body?.cancel();
  const body = type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined;
  if (answer.status >= 400 && request.method !== 'HEAD') {
    expectValid('rest', openApi.components.schemas.Error as object, body, text);
    expect(body.errors.length).to.be.within(1, 10);
    for (const line of body.errors) expect(line).to.have.length.below(1_000);
  }
  expectDocumented(request.method, path, { status: answer.status, headers: answer.headers, body });
}

/** Every documented call, with tokens, queries, bodies and Last-Event-ID. */
export const requests: fc.Arbitrary<Request> = fc.oneof(...operations);
