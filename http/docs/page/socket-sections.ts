import { UNACKNOWLEDGED } from '../asyncapi.js';
import type { AsyncApiDocument, AsyncOperationDocument, MessageDocument } from '../documents.js';
import type { JsonSchema } from '../schemas.js';
import { type Html, html, jsonBlock, phrase, prose, textBlock } from './html.js';
import { schemaTables, typeOf } from './schema-table.js';

/** One event with its message, and the acknowledgement if it has one. */
export interface SocketEvent {
  id: string;
  direction: 'client' | 'server';
  operation: AsyncOperationDocument;
  message: MessageDocument;
  ack?: MessageDocument;
}

/** A schema, or the one of the document that it refers to. */
function targetOf({ components }: AsyncApiDocument, schema: JsonSchema): JsonSchema {
  return components.schemas[String(schema.$ref).split('/').at(-1) as string] ?? schema;
}

function messageAt(document: AsyncApiDocument, reference: string): MessageDocument {
  const [, , channel, , key] = reference.split('/');
  const found = document.channels[channel as 'socket']?.messages[key as string];
  if (!found) throw new Error(`no such message: ${reference}`);
  const { oneOf } = found.payload as { oneOf?: JsonSchema[] };
  // What clients send, and what it is acknowledged with, is shown in place.
  if (oneOf) return { ...found, payload: { oneOf: oneOf.map((one) => targetOf(document, one)) } };
  return key?.startsWith('server.') ? found : { ...found, payload: targetOf(document, found.payload) };
}

/** The socket's events in the order of the document: what clients send, then what they receive. */
export function socketEvents(document: AsyncApiDocument): SocketEvent[] {
  return Object.entries(document.operations)
    .filter(([, operation]) => operation.channel.$ref.endsWith('/socket'))
    .map(([key, operation]) => {
      const [message, ack] = [operation.messages[0], operation.reply?.messages[0]].map(
        (one) => one && messageAt(document, one.$ref),
      );
      if (!message) throw new Error(`${key} has no message`);
      return {
        id: `event-${key.replaceAll('.', '-')}`,
        direction: operation.action === 'receive' ? ('client' as const) : ('server' as const),
        operation,
        message,
        ...(ack ? { ack } : {}),
      };
    });
}

export function directionBadge(direction: SocketEvent['direction']): Html {
  return direction === 'client'
    ? html`<span class="badge emit">EMIT</span>`
    : html`<span class="badge on">ON</span>`;
}

/** The success alternative of an acknowledgement. */
function successOf({ payload }: MessageDocument): JsonSchema {
  return (payload.oneOf as [JsonSchema, ...JsonSchema[]])[0];
}

function snippet({ direction, message, ack }: SocketEvent): string {
  if (direction === 'server') {
    const argument = message.name === 'connect_error' ? 'error' : 'event';
    return `socket.on('${message.name}', (${argument}) => {\n  // ${message.title.toLowerCase()}\n});`;
  }
  const example = JSON.stringify(message.examples[0]?.payload, null, 2).replace(/"(\w+)":/g, '$1:');
  return ack && message.name !== UNACKNOWLEDGED
    ? `const answer = await socket.emitWithAck('${message.name}', ${example});`
    : `socket.emit('${message.name}', ${example});`;
}

function acknowledgement(ack: MessageDocument): Html {
  const [success, ...refusals] = ack.examples;
  return html`<h4>Acknowledgement</h4>
    ${schemaTables(successOf(ack), 'Acknowledgement')}
    ${jsonBlock(success?.payload, 'Example acknowledgement')}
    <details class="errors"><summary>Error acknowledgements <span class="count">${refusals.length}</span></summary>
      <div class="table" role="region" aria-label="Error acknowledgements" tabindex="0"><table>
        <caption class="unseen">Error acknowledgements</caption>
        <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Such as</th></tr></thead>
        <tbody>${refusals.map(({ payload }) => {
          const { status, message, errors } = payload as {
            status: number;
            message: string;
            errors: string[];
          };
          return html`<tr><td>${status}</td><th scope="row"><code>${message}</code></th><td>${errors[0]}</td></tr>`;
        })}</tbody>
      </table></div>
    </details>`;
}

function eventSection(event: SocketEvent): Html {
  const { id, direction, message, ack } = event;
  return html`<article class="call" id="${id}">
    <div class="about">
      <h3><a class="anchor" href="#${id}">${message.title}</a></h3>
      <p class="signature">${directionBadge(direction)} <code>${message.name}</code>
        </p>
      ${prose(message.summary)}
      ${
        message.payload.$ref
          ? html`<h4>Payload</h4><p class="type">${typeOf(message.payload)}</p>`
          : html`<h4>Payload</h4>${schemaTables(message.payload, 'Payload')}`
      }
    </div>
    <div class="shown">
      <h4>In code</h4>
      ${textBlock(snippet(event), 'Code')}
      ${direction === 'server' && html`<h4>Example</h4>${jsonBlock(message.examples[0]?.payload, 'Example payload')}`}
      ${ack && acknowledgement(ack)}
    </div>
  </article>`;
}

const CONNECT = `import { io } from 'socket.io-client';

const socket = io('GATEWAY', {
  transports: ['websocket'],
  auth: (give) => give({ token: currentToken() }),
});
socket.on('connect_error', (error) => console.warn(error.data));`;

function connectSection(document: AsyncApiDocument): Html {
  const { port = {} } = (document.servers.gateway?.variables ?? {}) as Record<string, JsonSchema>;
  return html`<div class="call">
    <div class="about">${prose(document.info.description)}</div>
    <div class="shown"><h4>Connect</h4>
      ${textBlock(CONNECT.replace('GATEWAY', `http://localhost:${port.default}`), 'Code that connects')}
      <p class="note">Event names, fields, order and the rules of catching up with a sample session: <code>gateway/PROTOCOL.md</code> in the source.</p>
    </div>
  </div>`;
}

/** Everything about sockets: connecting, both directions, close reasons. */
export function socketSections(document: AsyncApiDocument): Html {
  const events = socketEvents(document);
  const section = (id: string, title: string, text: string, direction: SocketEvent['direction']) =>
    html`<section class="group" aria-labelledby="${id}">
      <h2 id="${id}">${title}</h2><p>${phrase(text)}</p>
      ${events.filter((event) => event.direction === direction).map(eventSection)}
    </section>`;
  return html`<section class="group" aria-labelledby="section-connecting">
      <h2 id="section-connecting">Sockets</h2>
      ${connectSection(document)}
    </section>
    ${section('section-client-events', 'What clients send', 'One object each, and a function to call with the acknowledgement. `typing` is sent without one.', 'client')}
    ${section('section-server-events', 'What the server sends', 'Every event carries one object. All are hints about what is stored: losing one costs time, never data.', 'server')}`;
}
