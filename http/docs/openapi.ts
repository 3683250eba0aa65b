import { type ErrorCode, listErrorCodes } from '../../domain/kernel/errors.js';
import { type BudgetSize, budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { errorBody } from '../error.schema.js';
import { done, JSON_TYPE } from '../respond.js';
import type { Route, RouteDefinition } from '../route.js';
import { about } from './about.js';
import type { OpenApiDocument, OperationDocument, ParameterDocument, ResponseDocument } from './documents.js';
import { type JsonSchema, Schemas } from './schemas.js';

const TAGS: Record<string, string> = {
  Articles: 'Members publish, read, edit and delete articles.',
  Bookmarks: 'What a member keeps for later. Bookmarks are of articles.',
  Comments: 'On an article, with one level of replies.',
  Likes: 'Hearts for articles and comments.',
  Chat: 'Rooms of two members about a sale (adoption) post. Live delivery is by Socket.IO: see /asyncapi.json. STOMP over SockJS, as the legacy app’s live chat speaks it, is not served.',
  'Adoption listing': 'Animals offered for adoption, for a map.',
  Notifications: 'The notifications of a member, as a list and as an event stream.',
  Members: 'Not part of the documented interface of the previous service: an addition of this one.',
};

const timesOf = ({ points, duration }: BudgetSize) => `${points.toLocaleString('en-US')} in ${duration} s`;

const INTRODUCTION = `Backend of an animal-adoption community: articles, comments and likes, chat rooms, the adoption listing and notifications with an event stream. Sockets and the stream's events are in /asyncapi.json.

Bodies are JSON with the content type \`${JSON_TYPE}\`; a request's JSON is read under any type but multipart. Where a body takes an integer, text of digits (\`"42"\`) counts as that number. A mutation answers 200 with \`{"status":200}\`, a like with \`{"status":200,"data":COUNT}\`. Unknown fields of a body are ignored; \`_csrf\` is accepted and ignored wherever it is sent.

An error answers with its HTTP status and the body \`{"status":404,"message":"ARTICLE_NOT_FOUND","errors":["…"]}\`: \`message\` is a stable code, \`errors\` are texts that name the field. 429 and 503 carry \`Retry-After\`. An unknown path is 404 \`NOT_FOUND\`, a known path with another method 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`.

<<<<<<< HEAD
Limits of text count Unicode code points, as \`maxLength\` does. A body has at most 1 MiB (413 beyond it), a form 16 KiB, the line and all headers 32 KiB (431), a token 8,192 characters (401). A member may read ${timesOf(budgets.read)}, list rooms, messages and notifications ${timesOf(budgets.list)}, search articles ${timesOf(budgets.search)}, write ${timesOf(budgets.write)} and send messages, by socket too, ${timesOf(budgets.message)}; all of one address ${timesOf(budgets.address)}. Beyond that the answer is 429, as it is when the rooms, messages, articles or comments that a member may store in 24 hours are used up (QUOTA_EXCEEDED). The headers arrive within 10 s and the whole request within 20 s, or it is 408; an answer is read within 300 s. Pipelined requests are handled one after another, each once the answer before it has left. A list has at most 4 MiB and ends there.
=======
A body has at most 64 KiB (413 beyond it), an article 1 MiB, a form 16 KiB, the line and all headers 32 KiB (431), a token 8,192 characters (401). JSON has at most 32 levels and 5,000 values (400); compressed JSON needs a token (415). The bodies of one address may have ${budgets.bytes.points.toLocaleString('en-US')} bytes in ${budgets.bytes.duration} s. A member may read ${timesOf(budgets.read)}, list rooms, messages and notifications ${timesOf(budgets.list)}, search articles ${timesOf(budgets.search)}, write ${timesOf(budgets.write)} and send messages, by socket too, ${timesOf(budgets.message)}; all of one address ${timesOf(budgets.address)}. Beyond that the answer is 429, as it is when the rooms, messages, articles or comments that a member may store in 24 hours are used up (QUOTA_EXCEEDED). The headers arrive within 10 s and the whole request within 20 s, or it is 408; an answer is read within 300 s. Pipelined requests are handled one after another, each once the answer before it has left. A list has at most 4 MiB and ends there.
>>>>>>> faa0042 (Bound what a body may cost before it is parsed)

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

function parametersOf({ params, query, headers }: RouteDefinition, schemas: Schemas): ParameterDocument[] {
  const places = { path: params, query, header: headers };
  return Object.entries(places).flatMap(([place, accepted]) => {
    if (!accepted) return [];
    const { properties = {}, required = [] } = schemas.accepted(accepted) as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    return Object.entries(properties).map(([field, { description, examples, ...schema }]) => ({
      name: place === 'path' ? snakeCase(field) : field,
      in: place as ParameterDocument['in'],
      required: required.includes(field),
      description: String(description),
      schema,
      example: (examples as [string | number] | undefined)?.[0],
    }));
  });
}

function bodyOf({ body, bodyShown, encoding }: RouteDefinition, schemas: Schemas) {
  const accepted = bodyShown ?? body;
  if (!accepted) return undefined;
  const schema = schemas.accepted(accepted);
  const content = { schema, example: schemas.example(schema) };
  const types = [...(encoding === 'form' ? ['application/x-www-form-urlencoded'] : []), 'application/json'];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

/** Errors of any call with such input, in addition to its own. */
function impliedErrors({ params, query, body }: RouteDefinition): ErrorCode[] {
  return [
    ...(params || query || body ? (['INVALID_INPUT'] as const) : []),
    ...(body ? (['MALFORMED_BODY', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    'UNAUTHORIZED',
    'TOKEN_EXPIRED',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
  ];
}

/** The headers of such an answer. */
function headersOf(status: number): Pick<ResponseDocument, 'headers'> {
  if (status === 401) return { headers: { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } };
  if (status === 429 || status === 503)
    return { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } };
  return {};
}

/** One answer for all errors of a status, with an example of each. */
function errorAnswer(
  status: number,
  errors: { code: ErrorCode; reason: string }[],
  schemas: Schemas,
): ResponseDocument {
  const examples = errors.map(({ code, reason }) => [
    code,
    { value: { status, message: code, errors: [reason] } },
  ]);
  return {
    description: errors.map(({ code, reason }) => `${code}: ${reason}`).join('; '),
    ...headersOf(status),
    content: { [JSON_TYPE]: { schema: schemas.yielded(errorBody), examples: Object.fromEntries(examples) } },
  };
}

function errorsOf(definition: RouteDefinition, schemas: Schemas): Record<string, ResponseDocument> {
  const { errors: own = {} } = definition;
  const codes = new Set([...impliedErrors(definition), ...Object.keys(own)]);
  const byStatus = new Map<number, { code: ErrorCode; reason: string }[]>();
  for (const { code, status, text } of listErrorCodes()) {
    if (!codes.has(code)) continue;
    byStatus.set(status, [...(byStatus.get(status) ?? []), { code, reason: own[code] ?? text }]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [status, errorAnswer(status, errors, schemas)]),
  );
}

function answerOf(
  { answer = done, answerHeaders = {} }: RouteDefinition,
  schemas: Schemas,
): ResponseDocument {
  const { 'Content-Type': contentType = JSON_TYPE, ...headers } = answerHeaders;
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    { schema: { type: 'string', const: value } },
  ]);
  const { examples, ...schema } = schemas.yielded(answer);
  return {
    description: schemas.description(schema),
    ...(shown.length > 0 ? { headers: Object.fromEntries(shown) } : {}),
    content: { [contentType]: { schema, example: schemas.example({ ...schema, examples }) } },
  };
}

const TOKEN: OperationDocument['security'] = [{ accessToken: [] }, { bearer: [] }];

function securityOf({ auth, cookie }: RouteDefinition): OperationDocument['security'] {
  if (auth === 'required') return TOKEN;
  return [{}, ...TOKEN, ...(cookie ? [{ sessionCookie: [] }] : [])];
}

function operationOf(definition: RouteDefinition, schemas: Schemas): OperationDocument {
  const { id, tag, summary, description } = definition;
  const parameters = parametersOf(definition, schemas);
  const requestBody = bodyOf(definition, schemas);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(definition),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: { 200: answerOf(definition, schemas), ...errorsOf(definition, schemas) },
  };
}

/** The OpenAPI 3.1 document of these routes. */
export function buildOpenApi(routes: readonly Route[]): OpenApiDocument {
  const schemas = new Schemas();
  const paths: OpenApiDocument['paths'] = {};
  for (const { definition } of routes) {
    const template = templateOf(definition.path);
    paths[template] = { ...paths[template], [definition.method]: operationOf(definition, schemas) };
  }
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
      schemas: schemas.components,
      headers: {
        Challenge: {
          description:
            'what is missing, or what is wrong with the token: `error="invalid_token"`, with TOKEN_EXPIRED in `error_description` of one that has expired',
          schema: { type: 'string', examples: ['Bearer realm="adoption", error="invalid_token"'] },
        },
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
