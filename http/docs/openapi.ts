import { type ErrorCode, listErrorCodes } from '../../domain/kernel/errors.js';
import { type BudgetSize, budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import type { Route, RouteDefinition } from '../route.js';
import { about } from './about.js';
import { chatOperations } from './chat.operations.js';
import { communityOperations } from './community.operations.js';
import type { OpenApiDocument, OperationDocument, ParameterDocument, ResponseDocument } from './documents.js';
import { exampleOf } from './example.js';
import { acceptedBy, describeFields, type JsonSchema, ref, schemasUsedIn } from './json-schema.js';
import { adoptionOperations, notificationOperations } from './member.operations.js';
import type { BodyNote, Operation, OperationTable, ParameterNote, Tag } from './operation.js';
import { resources } from './resources.js';

/** Every documented call, in the order of interface.md. */
export const operations: OperationTable = {
  ...communityOperations,
  ...chatOperations,
  ...adoptionOperations,
  ...notificationOperations,
};

/** The content type of every answer but the event stream. */
const JSON_TYPE = 'application/json;charset=UTF-8';

const TAGS: Record<Tag, string> = {
  Articles: 'Members publish, read, edit and delete articles.',
  Bookmarks: 'What a member keeps for later. Bookmarks are of articles.',
  Comments: 'On an article, with one level of replies.',
  Likes: 'Hearts for articles and comments.',
  Chat: 'Rooms of two members about a sale (adoption) post. Live delivery is by Socket.IO: see /asyncapi.json. STOMP over SockJS, as the legacy app’s live chat speaks it, is not served.',
  'Adoption listing': 'Animals offered for adoption, for a map.',
  Notifications: 'What a member is told of, as a list and as an event stream.',
};

const timesOf = ({ points, duration }: BudgetSize) => `${points.toLocaleString('en-US')} in ${duration} s`;

const INTRODUCTION = `Backend of an animal-adoption community: articles, comments and likes, chat rooms, the adoption listing and notifications with an event stream. Sockets and the stream's events are in /asyncapi.json.

Bodies are JSON with the content type \`${JSON_TYPE}\`; a request's JSON is read under any type but multipart. Where a body takes an integer, text of digits (\`"42"\`) counts as that number. A mutation answers 200 with \`{"status":200}\`, a like with \`{"status":200,"data":COUNT}\`. Unknown fields of a body are ignored; \`_csrf\` is accepted and ignored wherever it is sent.

An error answers with its HTTP status and the body \`{"status":404,"message":"ARTICLE_NOT_FOUND","errors":["…"]}\`: \`message\` is a stable code, \`errors\` are texts that name the field. 429 and 503 carry \`Retry-After\`. An unknown path is 404 \`NOT_FOUND\`, a known path with another method 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`.

A body has at most 1 MiB (413 beyond it), a form 16 KiB, the line and all headers 32 KiB (431), a token 8,192 characters (401). A member may read ${timesOf(budgets.read)}, write ${timesOf(budgets.write)} and send messages, by socket too, ${timesOf(budgets.message)}; all of one address ${timesOf(budgets.address)}. Beyond that the answer is 429.

Times written as text are local times of the service without a zone offset; numbers are epoch milliseconds.`;

/** How a call is written in interface.md: `GET /community/article/{article_id}`. */
export function callOf({ method, path }: Pick<RouteDefinition, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${templateOf(path)}`;
}

/** `articleId` as the interface writes it. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, (_, name: string) => `{${snakeCase(name)}}`);
}

function parameter(
  place: 'path' | 'query' | 'header',
  name: string,
  schema: JsonSchema,
  required: boolean,
  note: ParameterNote,
): ParameterDocument {
  return {
    name,
    in: place,
    required,
    description: note.description,
    schema: { ...(note.schema ?? schema), ...note.bounds },
    example: note.example,
  };
}

function parametersOf(definition: RouteDefinition, operation: Operation): ParameterDocument[] {
  const notes = new Map(Object.entries(operation.parameters ?? {}));
  const parameters: ParameterDocument[] = [];
  for (const place of ['path', 'query'] as const) {
    const schema = place === 'path' ? definition.params : definition.query;
    if (!schema) continue;
    const { properties = {}, required = [] } = acceptedBy(schema) as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    for (const [field, accepted] of Object.entries(properties)) {
      const name = place === 'path' ? snakeCase(field) : field;
      const note = notes.get(name);
      if (!note) throw new Error(`${callOf(definition)}: nothing is said of ${name}`);
      notes.delete(name);
      parameters.push(parameter(place, name, accepted, required.includes(field), note));
    }
  }
  if (notes.size > 0)
    throw new Error(`${callOf(definition)} has no parameter ${[...notes.keys()].join(', ')}`);
  for (const [name, note] of Object.entries(operation.headers ?? {})) {
    parameters.push(parameter('header', name, note.schema, false, note));
  }
  return parameters;
}

function bodyOf(definition: RouteDefinition, note: BodyNote): OperationDocument['requestBody'] {
  const told = note.schemas?.map(({ schema, title }) => ({ title, ...acceptedBy(schema) }));
  const [only, ...others] = told ?? (definition.body ? [acceptedBy(definition.body)] : []);
  if (!only) throw new Error(`${callOf(definition)} takes no body`);
  const schema = describeFields(others.length > 0 ? { anyOf: told } : only, note.fields);
  for (const object of (schema.anyOf as JsonSchema[] | undefined) ?? [schema]) {
    const properties = object.properties as Record<string, JsonSchema>;
    for (const [name, description] of Object.entries(note.ignored ?? {}))
      properties[name] ??= { description };
  }
  const content = { schema, example: note.example };
  const types = note.contentTypes ?? ['application/json'];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

/** What can go wrong with any call of this definition, before its own reasons. */
function impliedErrors(definition: RouteDefinition): ErrorCode[] {
  return [
    ...(definition.params || definition.query || definition.body ? (['INVALID_INPUT'] as const) : []),
    ...(definition.body ? (['MALFORMED_BODY', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    'UNAUTHORIZED',
    'TOKEN_EXPIRED',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
  ];
}

/** One answer for all errors of a status, with an example of each. */
function errorAnswer(
  status: number,
  errors: { code: ErrorCode; status: number; reason: string }[],
): ResponseDocument {
  const examples = errors.map(({ code, reason }) => [
    code,
    { value: { status, message: code, errors: [reason] } },
  ]);
  return {
    description: errors.map(({ code, reason }) => `${code}: ${reason}`).join('; '),
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }
      : {}),
    content: { [JSON_TYPE]: { schema: ref('Error'), examples: Object.fromEntries(examples) } },
  };
}

function errorsOf(definition: RouteDefinition, operation: Operation): Record<string, ResponseDocument> {
  const codes = new Set([...impliedErrors(definition), ...(Object.keys(operation.errors) as ErrorCode[])]);
  const errors = listErrorCodes()
    .filter(({ code }) => codes.has(code))
    .map(({ code, status, text }) => ({ code, status, reason: operation.errors[code] ?? text }));
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      errorAnswer(
        status,
        errors.filter((error) => error.status === status),
      ),
    ]),
  );
}

function answerOf({
  description,
  schema,
  contentType = JSON_TYPE,
  headers,
  example,
}: Operation['answer']): ResponseDocument {
  return {
    description,
    ...(headers
      ? {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [
              name,
              { schema: { type: 'string', const: value } },
            ]),
          ),
        }
      : {}),
    content: { [contentType]: { schema, example: example ?? exampleOf(schema, resources) } },
  };
}

const TOKEN: OperationDocument['security'] = [{ accessToken: [] }, { bearer: [] }];

function securityOf({ auth }: RouteDefinition, { cookie }: Operation): OperationDocument['security'] {
  if (auth === 'required') return TOKEN;
  return [{}, ...TOKEN, ...(cookie ? [{ sessionCookie: [] }] : [])];
}

function operationOf(definition: RouteDefinition, operation: Operation): OperationDocument {
  const { id, tag, summary, description, body, answer } = operation;
  if (definition.body && !body) throw new Error(`${callOf(definition)}: nothing is said of its body`);
  const parameters = parametersOf(definition, operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(definition, operation),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: bodyOf(definition, body) } : {}),
    responses: { 200: answerOf(answer), ...errorsOf(definition, operation) },
  };
}

function pathsOf(routes: readonly Route[]): OpenApiDocument['paths'] {
  const definitions = new Map(routes.map(({ definition }) => [callOf(definition), definition]));
  const paths: OpenApiDocument['paths'] = {};
  for (const [call, operation] of Object.entries(operations)) {
    const definition = definitions.get(call);
    if (!definition) throw new Error(`${call} is documented and not served`);
    definitions.delete(call);
    const template = templateOf(definition.path);
    paths[template] = { ...paths[template], [definition.method]: operationOf(definition, operation) };
  }
  if (definitions.size > 0)
    throw new Error(`served and not documented: ${[...definitions.keys()].join(', ')}`);
  return paths;
}

/**
 * The OpenAPI 3.1 document: inputs from the routes' own schemas, everything else from the tables.
 * @throws Error where tables and routes disagree
 */
export function buildOpenApi(routes: readonly Route[]): OpenApiDocument {
  const paths = pathsOf(routes);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Community, chat, adoption listing and notifications',
      description: INTRODUCTION,
      ...about,
    },
    servers: [{ url: '/', description: 'the service this document comes from' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemasUsedIn(paths, resources),
      headers: {
        RetryAfter: {
          description: 'whole seconds to wait before the same request may succeed',
          schema: { type: 'integer', minimum: 1 },
        },
      },
      securitySchemes: {
        accessToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'the access token (JWT) itself, without a scheme',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'the same token behind `Bearer`',
        },
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'session',
          description: 'HttpOnly cookie that authenticated answers set, for the chat calls without a token',
        },
      },
    },
  };
}
