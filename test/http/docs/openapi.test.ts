import { expect } from 'chai';
import { z } from 'zod';
import { AppError, listErrorCodes } from '../../../domain/kernel/errors.js';
import { parseInput } from '../../../domain/kernel/input.js';
import { exampleOf } from '../../../http/docs/example.js';
import type { JsonSchema } from '../../../http/docs/json-schema.js';
import { buildOpenApi, callOf, operations } from '../../../http/docs/openapi.js';
import type { RouteDefinition } from '../../../http/route.js';
import { expectValid, openApi, operationOf, routes } from './documents.js';

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

describe('/openapi.json', () => {
  it('holds every call of the interface in its order, and each has a route', () => {
    expect(Object.keys(operations)).to.deep.equal(documented);
    expect(routes.map(({ definition }) => callOf(definition))).to.have.members(documented);
  });

  it('cannot be built when a route and its description part ways', () => {
    expect(() => buildOpenApi(routes.slice(1))).to.throw('documented and not served');
    const [first] = routes;
    if (!first) throw new Error('there are no routes');
    const extra = { ...first, definition: { ...first.definition, path: '/community/new/:articleId' } };
    expect(() => buildOpenApi([...routes, extra])).to.throw('served and not documented');
  });

  it('cannot be built when an input and its description part ways', () => {
    const changed = (call: string, change: Partial<RouteDefinition>) =>
      routes.map((route) =>
        callOf(route.definition) === call
          ? { ...route, definition: { ...route.definition, ...change } as RouteDefinition }
          : route,
      );
    const query = z.object({ sort: z.string() });
    const body = z.object({ saleNo: z.number() });
    const faults: [message: string, call: string, change: Partial<RouteDefinition>][] = [
      ['nothing is said of sort', 'GET /notification/all', { query }],
      ['GET /chatroom has no parameter saleNo', 'GET /chatroom', { query: undefined }],
      ['POST /chatroom takes no body', 'POST /chatroom', { body: undefined }],
      ['nothing is said of its body', 'POST /community/bookmark/{target_id}', { body }],
      ['do not say what extra means', 'POST /chatroom', { body: body.extend({ extra: z.string() }) }],
      ['describe fields that are not: createMember', 'POST /chatroom', { body }],
    ];
    for (const [message, call, change] of faults)
      expect(() => buildOpenApi(changed(call, change)), call).to.throw(message);
    expect(() => exampleOf({ $ref: '#/components/schemas/Nothing' }, {})).to.throw('no such schema');
  });

  it('gives every call an id of its own and at least the errors that any call may get', () => {
    const ids = documented.map((call) => operationOf(call).operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const call of documented) {
      expect(operationOf(call).responses, call).to.include.keys('200', '401', '429', '500', '503');
    }
  });

  it('asks for a token exactly where the service does', () => {
    for (const { definition } of routes) {
      const open = operationOf(callOf(definition)).security.some((one) => Object.keys(one).length === 0);
      expect(open, callOf(definition)).to.equal(definition.auth !== 'required');
    }
  });

  it('names every error code, with its status, in the schema of errors', () => {
    const { properties } = openApi.components.schemas.Error as { properties: Record<string, JsonSchema> };
    expect(properties.message?.enum).to.deep.equal(listErrorCodes().map(({ code }) => code));
  });

  it('says what every field means', () => {
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
    for (const [name, schema] of Object.entries(openApi.components.schemas)) {
      expectValid('rest', schema, exampleOf(schema, openApi.components.schemas), name);
    }
    for (const call of documented) {
      const { requestBody, responses } = operationOf(call);
      for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
        expectValid('rest', schema, example, `body of ${call}`);
      }
      for (const [status, { content }] of Object.entries(responses)) {
        for (const { schema, example, examples = {} } of Object.values(content)) {
          const values =
            example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
          for (const value of values) expectValid('rest', schema, value, `${status} of ${call}`);
        }
      }
    }
  });

  it('has example bodies and parameters that the routes accept', () => {
    for (const { definition } of routes) {
      const call = callOf(definition);
      const { requestBody, parameters = [] } = operationOf(call);
      const [content] = Object.values(requestBody?.content ?? {});
      if (definition.body) {
        expect(definition.body.safeParse(content?.example).success, `body of ${call}`).to.equal(true);
      }
      for (const { name, in: place, example } of parameters) {
        const schema = place === 'path' ? definition.params : definition.query;
        if (example === undefined || !schema || place === 'header') continue;
        expect(fieldOf(schema, name).safeParse(String(example)).success, `${name} of ${call}`).to.equal(true);
      }
    }
  });

  it('tells of integers in bodies that text of digits may stand for', () => {
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
    for (const { definition } of routes) {
      if (!definition.body) continue;
      const call = callOf(definition);
      const [content] = Object.values(operationOf(call).requestBody?.content ?? {});
      const parsed = definition.body.safeParse(spelt(content?.example, ''));
      expect(parsed, call).to.deep.equal(definition.body.safeParse(content?.example));
      expect(parsed.success, call).to.equal(true);
    }
    expect(seen).to.include.members([
      'categoryId',
      'imageList[].id',
      'boardId',
      'parentId',
      'id',
      'saleNo',
      'createMember',
      'chatNo',
      'sendTime',
      'idList[]',
    ]);
    expect(openApi.info.description).to.match(/text of digits .* counts as that number/);
  });

  it('tells of required fields, and each is said to be missing where it is', () => {
    for (const { definition } of routes) {
      if (!definition.body) continue;
      const call = callOf(definition);
      const [content] = Object.values(operationOf(call).requestBody?.content ?? {});
      const example = (content?.example ?? {}) as Record<string, unknown>;
      const [form = {}] = (content?.schema.anyOf as JsonSchema[] | undefined) ?? [content?.schema];
      for (const name of (form.required ?? []) as string[]) {
        const { [name]: _, ...rest } = example;
        expect(() => parseInput(definition.body as z.ZodType, rest, 'body'), `${name} of ${call}`)
          .to.throw(AppError)
          .with.property('errors')
          .that.deep.equals([`${name}: is missing`]);
      }
    }
  });

  it('tells of bounds of numbers that the routes keep', () => {
    for (const { definition } of routes) {
      const call = callOf(definition);
      for (const { name, in: place, schema } of operationOf(call).parameters ?? []) {
        const accepted = place === 'path' ? definition.params : definition.query;
        if (!accepted || schema.type !== 'integer') continue;
        const field = fieldOf(accepted, name);
        const takes = (value: number) => field.safeParse(String(value)).success;
        const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as {
          minimum?: number;
          maximum?: number;
        };
        expect([minimum - 1, minimum, maximum, maximum + 1].map(takes), `${name} of ${call}`).to.deep.equal([
          false,
          true,
          true,
          false,
        ]);
      }
    }
  });
});

/** The schema of one parameter, by the name the interface gives it. */
function fieldOf(schema: z.ZodType, name: string): z.ZodType {
  const { shape } = schema as z.ZodObject;
  const field = shape[name] ?? shape[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
  if (!field) throw new Error(`no such parameter: ${name}`);
  return field as z.ZodType;
}
