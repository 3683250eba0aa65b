import { expect } from 'chai';
import type { z } from 'zod';
import { AppError, listErrorCodes } from '../../../domain/kernel/errors.js';
import { parseInput } from '../../../domain/kernel/input.js';
import { callOf } from '../../../http/docs/openapi.js';
import type { JsonSchema } from '../../../http/docs/schemas.js';
import { expectValid, openApi, operationOf, routes } from '../../support/api-documents.js';

/** interface.md, "Endpoints", in its order; its two parameters of /community/comment have one name here. */
const documented = [
  'GET /community/article/{article_id}',
  'GET /community/list/{order}',
  'POST /community/article',
  'PATCH /community/article/{article_id}',
  'DELETE /community/article/{article_id}',
  'POST /community/bookmark/{target_id}',
  'DELETE /community/bookmark/{target_id}',
  'GET /community/comment/{id}',
  'POST /community/comment',
  'PATCH /community/comment',
  'DELETE /community/comment/{id}',
  'POST /community/heart',
  'DELETE /community/heart/{target}/{id}',
  'POST /chatroom',
  'POST /chatroom/notification',
  'POST /chatroom/{chat_no}',
  'GET /chatroom',
  'GET /chatroom/{chat_no}',
  'GET /adopt/render',
  'GET /notification/connect',
  'GET /notification/all',
  'POST /notification',
  'PATCH /notification/checked/{notification_id}',
];

/** Calls that the interface lacks. */
const ours = ['GET /me'];

describe('/openapi.json', () => {
  it('holds every call of the interface and ours, and the routes have its order', () => {
    expect(routes.map(({ definition }) => callOf(definition))).to.deep.equal([...documented, ...ours]);
    for (const call of [...documented, ...ours]) expect(operationOf(call), call).to.be.an('object');
  });

  it('gives every call a unique id and at least the errors of any call', () => {
    const ids = documented.map((call) => operationOf(call).operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const call of documented) {
      expect(operationOf(call).responses, call).to.include.keys('200', '401', '429', '500', '503');
    }
  });

  it('requires a token exactly where the service does', () => {
    for (const { definition } of routes) {
      const open = operationOf(callOf(definition)).security.some((one) => Object.keys(one).length === 0);
      expect(open, callOf(definition)).to.equal(definition.auth !== 'required');
    }
  });

  it('names every error code, with its status, in the schema of errors', () => {
    const { properties } = openApi.components.schemas.Error as { properties: Record<string, JsonSchema> };
    expect(properties.message?.enum).to.deep.equal(listErrorCodes().map(({ code }) => code));
  });

  it('describes every field', () => {
    function look(schema: JsonSchema, path: string): void {
      for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
        expect(field.description ?? field.$ref, `${path}.${name}`).to.be.a('string').that.is.not.empty;
        look(field, `${path}.${name}`);
        if (field.items) look(field.items as JsonSchema, `${path}.${name}[]`);
      }
      if (schema.type === 'object') expect(schema.additionalProperties, path).to.equal(false);
    }
    for (const [name, schema] of Object.entries(openApi.components.schemas)) look(schema, name);
  });

  it('has examples that its own schemas accept', () => {
    for (const call of documented) {
      const { requestBody, responses } = operationOf(call);
      const contents = [requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.values(one?.content ?? {}),
      );
      for (const { schema, example, examples = { only: { value: example } } } of contents)
        for (const { value } of Object.values(examples)) expectValid('rest', schema, value, call);
    }
  });

  it('has example bodies and parameters that the routes accept', () => {
    for (const { call, schema, example } of bodies())
      expect(schema.safeParse(example).success, `body of ${call}`).to.equal(true);
    for (const { what, field, example } of parameters()) {
      if (example !== undefined) expect(field.safeParse(String(example)).success, what).to.equal(true);
    }
  });

  it('accepts text of digits for the integers of bodies', () => {
    const seen: string[] = [];
    /** The value with every whole number in it as text. */
    const spelt = (value: unknown, path: string): unknown => {
      if (Array.isArray(value)) return value.map((one) => spelt(one, `${path}[]`));
      if (typeof value === 'object' && value !== null) {
        return Object.fromEntries(
          Object.entries(value).map(([name, one]) => [name, spelt(one, path ? `${path}.${name}` : name)]),
        );
      }
      if (!Number.isInteger(value)) return value;
      seen.push(path);
      return String(value);
    };
    for (const { call, schema, example } of bodies()) {
      const parsed = schema.safeParse(spelt(example, ''));
      expect(parsed, call).to.deep.equal(schema.safeParse(example));
      expect(parsed.success, call).to.equal(true);
    }
    const integers =
      'categoryId imageList[].id boardId parentId id saleNo createMember chatNo sendTime idList[]';
    expect(seen).to.include.members(integers.split(' '));
    expect(openApi.info.description).to.match(/text of digits .* counts as that number/);
  });

  it('lists required fields, and each is reported as missing where it is', () => {
    for (const { call, schema, shown, example } of bodies()) {
      const [form = shown] = (shown.anyOf ?? []) as JsonSchema[];
      for (const name of (form.required ?? []) as string[]) {
        const { [name]: _, ...rest } = example as Record<string, unknown>;
        expect(() => parseInput(schema, rest, 'body'), `${name} of ${call}`)
          .to.throw(AppError)
          .with.property('errors')
          .that.deep.equals([`${name}: is missing`]);
      }
    }
  });

  it('has the bounds of numbers that the routes enforce', () => {
    for (const { what, field, shown } of parameters()) {
      if (shown.type !== 'integer') continue;
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = shown as Record<string, number | undefined>;
      const accepted = [minimum - 1, minimum, maximum, maximum + 1].map(
        (value) => field.safeParse(String(value)).success,
      );
      expect(accepted, what).to.deep.equal([false, true, true, false]);
    }
  });
});

/** Every call with a body: the route's schema, and what the document shows. */
function bodies() {
  return routes.flatMap(({ definition }) => {
    const call = callOf(definition);
    const [content] = Object.values(operationOf(call).requestBody?.content ?? {});
    if (!definition.body || !content) return [];
    return [{ call, schema: definition.body, shown: content.schema, example: content.example }];
  });
}

/** Every parameter in a path or query: the route's schema, and what the document shows. */
function parameters() {
  return routes.flatMap(({ definition }) => {
    const call = callOf(definition);
    const shown = (operationOf(call).parameters ?? []).filter((one) => one.in !== 'header');
    return shown.map(({ name, in: place, schema, example }) => {
      const { shape } = (place === 'path' ? definition.params : definition.query) as z.ZodObject;
      const camelCase = name.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const field = (shape[name] ?? shape[camelCase]) as z.ZodType;
      return { what: `${name} of ${call}`, field, shown: schema, example };
    });
  });
}
