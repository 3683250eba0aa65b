import type { Ajv2020 as Validator } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { Domain } from '../../../domain/domain.js';
import { listCloseReasons } from '../../../gateway/close-reasons.js';
import { clientEvents } from '../../../gateway/events/index.js';
import { buildAsyncApi } from '../../../http/docs/asyncapi.js';
import { buildOpenApi } from '../../../http/docs/openapi.js';
import { documentedRoutes } from '../../../http/router.js';
import type { StreamHub } from '../../../http/sse/stream-hub.js';

/** The routes' definitions; their handlers are never called, so they get nothing to work with. */
export const routes = documentedRoutes({} as Domain, {} as StreamHub);
export const openApi = buildOpenApi(routes);
export const sockets = { port: 8081, events: clientEvents, closeReasons: listCloseReasons() };
export const asyncApi = buildAsyncApi(sockets);

function validatorOf(components: object): Validator {
  // Keywords such as `examples` are for readers; formats are told, and checked by the service itself.
  const validator = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  return validator.addSchema({ $id: 'document', components });
}

const validators = {
  rest: validatorOf(openApi.components),
  sockets: validatorOf(asyncApi.components),
};

/** Fails unless a value is what a schema of one of the documents says, telling where it is not. */
export function expectValid(
  document: 'rest' | 'sockets',
  schema: object,
  value: unknown,
  what: string,
): void {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
  const validate = validators[document].compile(absolute);
  const valid = validate(value);
  expect(valid, `${what}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`).to.equal(true);
}

/** The documented operation of a call such as `GET /community/article/{article_id}`. */
export function operationOf(call: string) {
  const [method = '', path = ''] = call.split(' ');
  const operation = openApi.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${call} is not documented`);
  return operation;
}

/** Fails unless an answer is one that the document announces for this call. */
export function expectDocumented(
  call: string,
  answer: { status: number; headers: Headers; body: unknown },
): void {
  const response = operationOf(call).responses[answer.status];
  if (!response) throw new Error(`${call} is not documented to answer ${answer.status}`);
  const [[contentType, content] = []] = Object.entries(response.content);
  expect(answer.headers.get('content-type'), call).to.equal(contentType);
  expectValid('rest', content?.schema ?? {}, answer.body, `${call} ${answer.status}`);
  if (answer.status === 200) return;
  const { message } = answer.body as { message: string };
  expect(Object.keys(content?.examples ?? {}), `${call} ${answer.status}`).to.include(message);
}
