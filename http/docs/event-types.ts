import { UNACKNOWLEDGED } from './asyncapi.js';
import type { AsyncApiDocument } from './documents.js';
import type { JsonSchema } from './schemas.js';

const nameOf = (reference: unknown): string => String(reference).split('/').at(-1) as string;

const PRIMITIVES: Record<string, string> = { integer: 'number', number: 'number', null: 'null' };

/** A schema as a TypeScript type. @param used is told of the schemas that it refers to */
function typeOf(schema: JsonSchema, used: (name: string) => void): string {
  if (schema.$ref) {
    used(nameOf(schema.$ref));
    return nameOf(schema.$ref);
  }
  const alternatives = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined;
  if (alternatives) return alternatives.map((one) => typeOf(one, used)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === 'array') {
    const item = typeOf(schema.items as JsonSchema, used);
    const { minItems, maxItems } = schema as { minItems?: number; maxItems?: number };
    return minItems && minItems === maxItems
      ? `[${Array(minItems).fill(item).join(', ')}]`
      : `Array<${item}>`;
  }
  if (schema.type !== 'object') return PRIMITIVES[String(schema.type)] ?? String(schema.type);
  const required = (schema.required ?? []) as string[];
  const fields = Object.entries(schema.properties as Record<string, JsonSchema>).map(
    ([name, field]) =>
      `${comment(field)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(field, used)};`,
  );
  return `{\n${fields.join('\n').replaceAll(/^/gm, '  ')}\n}`;
}

function comment({ description }: JsonSchema): string {
  return description ? `/** ${String(description).replaceAll('*/', '* /')} */\n` : '';
}

/**
 * The events of both directions as TypeScript types, for `Socket<ServerEvents, ClientEvents>` of socket.io-client. The file
 * imports nothing, so an app can copy it.
 */
export function eventTypes({ channels, components }: AsyncApiDocument): string {
  const names = new Set<string>();
  const used = (name: string) => void names.add(name);
  const client: string[] = [];
  const server: string[] = [];
  const { messages } = channels.socket;
  for (const [key, { name, summary, payload }] of Object.entries(messages)) {
    // An event of the client library, and what the requests below are answered with.
    if (name === 'connect_error' || key.endsWith('.ack')) continue;
    const about = comment({ description: summary });
    const type = typeOf(payload, used);
    if (key.startsWith('server.')) {
      server.push(`${about}'${name}': (event: ${type}) => void;`);
    } else if (name === UNACKNOWLEDGED) {
      client.push(`${about}'${name}': (request: ${type}) => void;`);
    } else {
      // Not optional: of an optional one emitWithAck would have no type.
      const ack = typeOf(messages[`${key}.ack`]?.payload as JsonSchema, used);
      client.push(`${about}'${name}': (request: ${type}, ack: (answer: ${ack}) => void) => void;`);
    }
  }
  const map = (name: string, about: string, events: string[]) =>
    `/** ${about} */\nexport interface ${name} {\n${events.join('\n').replaceAll(/^/gm, '  ')}\n}\n`;
  const schemas: string[] = [];
  // The set grows by what its schemas refer to.
  for (const name of names) {
    const schema = components.schemas[name] as JsonSchema;
    schemas.push(`${comment(schema)}export type ${name} = ${typeOf(schema, used)};\n`);
  }
  return [
    '// Types of the events of the sockets, made from /asyncapi.json: const socket: Socket<ServerEvents, ClientEvents> = io(…) of socket.io-client.\n',
    map('ClientEvents', 'What clients send.', client),
    map('ServerEvents', 'What the server sends.', server),
    ...schemas,
  ].join('\n');
}
