import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { Domain } from '../../domain/domain.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { buildDocuments } from '../../http/docs/docs.routes.js';
import type { ContentDocument, OperationDocument } from '../../http/docs/documents.js';
import { documentedRoutes } from '../../http/router.js';
import type { StreamHub } from '../../http/sse/stream-hub.js';

/** Definitions only: the handlers are never called. */
export const routes = documentedRoutes({} as Domain, {} as StreamHub);
export const { openApi, asyncApi, page } = buildDocuments(routes, { port: 8081, requests, pushes }, 8080);

function validatorOf(components: object): Ajv2020 {
  // `email` is checked by the service itself; a time before September 2020 would be seconds.
  const formats = {
    email: true,
    'epoch-ms': { type: 'number', validate: (ms: number) => ms > 1.6e12 },
  } as const;
  return new Ajv2020({ strict: false, allErrors: true, formats }).addSchema({ $id: 'document', components });
}

const validators = { rest: validatorOf(openApi.components), sockets: validatorOf(asyncApi.components) };
const compiled = new WeakMap<object, ReturnType<Ajv2020['compile']>>();

/** Fails unless a value matches a schema of one of the documents. */
export function expectValid(
  document: 'rest' | 'sockets',
  schema: object,
  value: unknown,
  what: string,
): void {
  let validate = compiled.get(schema);
  if (!validate) {
    const absolute = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    validate = validators[document].compile(JSON.parse(absolute));
    compiled.set(schema, validate);
  }
  if (validate(value)) return;
  expect.fail(`${what}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)?.slice(0, 2_000)}`);
}

/** The documented operation of a call such as `GET /community/article/{article_id}`. */
export function operationOf(call: string): OperationDocument {
  const [method = '', path = ''] = call.split(' ');
  const operation = openApi.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${call} is not documented`);
  return operation;
}

const patterns = Object.entries(openApi.paths).map(
  ([path, methods]) => [new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), methods] as const,
);

/** Fails unless the answer to a documented call is one that /openapi.json announces; other calls are not checked. */
export function expectDocumented(
  method: string,
  url: string,
  answer: { status: number; headers: Headers; body?: unknown },
): void {
  const path = url.replace(/^https?:\/\/[^/]+/, '').replace(/\?.*/s, '');
  const found = patterns.find(([pattern, methods]) => pattern.test(path) && method.toLowerCase() in methods);
  const operation = found?.[1][method.toLowerCase()];
  if (!operation) return;
  const what = `${method} ${path}, ${answer.status}`;
  const response = operation.responses[answer.status];
  if (!response) expect.fail(`${what} is not documented: ${JSON.stringify(answer.body)}`);
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    const { const: fixed } = (header.schema ?? {}) as { const?: string };
    const value = answer.headers.get(name);
    expect(value, `${name} of ${what}`).to.satisfy((is: unknown) => (fixed ? is === fixed : is !== null));
  }
  const [[contentType, { schema, examples = {} }]] = Object.entries(response.content) as [
    [string, ContentDocument],
  ];
  expect(answer.headers.get('content-type'), what).to.equal(contentType);
  if (contentType.startsWith('text/event-stream')) return;
  expectValid('rest', schema, answer.body, what);
  if (answer.status === 200) return;
  expect(Object.keys(examples), what).to.include((answer.body as { message: string }).message);
}

/** Fails unless a payload matches a message such as `server.room` or `room.join.ack`; others are not checked. */
export function expectMessage(
  key: string,
  payload: unknown,
  channel: 'socket' | 'eventStream' = 'socket',
): void {
  const message = asyncApi.channels[channel].messages[key.replaceAll(':', '.')];
  if (message) expectValid('sockets', message.payload, payload, key);
}
