import type { Route } from '../../route.js';
import type {
  ContentDocument,
  OpenApiDocument,
  OperationDocument,
  ParameterDocument,
  ResponseDocument,
} from '../documents.js';
import { curlOf } from './curl.js';
import { type Html, html, jsonBlock, phrase, prose, textBlock } from './html.js';
import { limits, schemaTables, typeOf } from './schema-table.js';

/** One call with its place in the document. */
export interface Call {
  path: string;
  method: string;
  operation: OperationDocument;
}

/** Every call of a tag, in the order of the routes; the document itself is ordered by path. */
export function callsOf({ paths }: OpenApiDocument, routes: readonly Route[], tag: string): Call[] {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const ids = routes.map(({ definition }) => definition.id);
  return calls
    .filter(({ operation }) => operation.tags.includes(tag))
    .sort((a, b) => ids.indexOf(a.operation.operationId) - ids.indexOf(b.operation.operationId));
}

export function methodBadge(method: string): Html {
  return html`<span class="badge ${method}">${method.toUpperCase()}</span>`;
}

/** A path with its parameters marked, which may break before each slash. */
function pathMarkup(path: string): Html {
  const pieces = path.split(/(\{\w+\}|\/)/);
  return html`${pieces.map((piece) => {
    if (piece === '/') return html`<wbr>/`;
    return piece.startsWith('{') ? html`<span class="parameter">${piece}</span>` : piece;
  })}`;
}

function authentication({ security }: OperationDocument): Html {
  const open = security.some((one) => Object.keys(one).length === 0);
  const cookie = security.some((one) => 'sessionCookie' in one);
  const text = open ? (cookie ? 'token, session cookie or known client' : 'token optional') : 'token needed';
  return html`<span class="chip ${open ? 'open' : 'locked'}">${text}</span>`;
}

function parameterTable(parameters: ParameterDocument[]): Html {
  return html`<h4>Parameters</h4>
  <div class="table" role="region" aria-label="Parameters" tabindex="0"><table>
    <caption class="unseen">Parameters</caption>
    <thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
    <tbody>${parameters.map(
      ({ name, in: place, required, description, schema }) => html`<tr>
        <th scope="row"><code>${name}</code></th>
        <td>${place}</td>
        <td class="type">${typeOf(schema)}${!required && html` <span class="optional">optional</span>`}</td>
        <td>${phrase(description)} ${limits(schema)}</td>
      </tr>`,
    )}</tbody>
  </table></div>`;
}

function requestBody({ requestBody: body }: OperationDocument): Html | false {
  const [type, content] = Object.entries(body?.content ?? {})[0] ?? [];
  if (!content) return false;
  return html`<h4>Body <span class="media">${type}</span></h4>
    ${schemaTables(content.schema, 'Body')}
    ${jsonBlock(content.example, 'Example body')}`;
}

function answer(response: ResponseDocument): Html {
  const [[type, content]] = Object.entries(response.content) as [[string, ContentDocument]];
  const example =
    typeof content.example === 'string'
      ? textBlock(content.example, 'Example answer')
      : jsonBlock(content.example, 'Example answer');
  return html`<h4>Answer 200 <span class="media">${type.split(';')[0]}</span></h4>
    <p>${phrase(response.description)} <span class="type">${typeOf(content.schema)}</span></p>
    ${example}`;
}

function errors({ responses }: OperationDocument): Html {
  const refusals = Object.entries(responses).filter(([status]) => status !== '200');
  const rows = refusals.flatMap(([status, response]) =>
    Object.values(response.content).flatMap(({ examples = {} }) =>
      Object.entries(examples).map(([code, { value }]) => {
        const [reason] = (value as { errors: string[] }).errors;
        return html`<tr><td>${status}</td><th scope="row"><code>${code}</code></th><td>${reason}</td></tr>`;
      }),
    ),
  );
  return html`<details class="errors"><summary>Errors <span class="count">${rows.length}</span></summary>
    <div class="table" role="region" aria-label="Errors" tabindex="0"><table>
      <caption class="unseen">Errors</caption>
      <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Such as</th></tr></thead>
      <tbody>${rows}</tbody>
    </table></div>
  </details>`;
}

function callSection({ path, method, operation }: Call): Html {
  return html`<article class="call" id="${operation.operationId}">
    <div class="about">
      <h3><a class="anchor" href="#${operation.operationId}">${operation.summary}</a></h3>
      <p class="signature">${methodBadge(method)} <code>${pathMarkup(path)}</code> ${authentication(operation)}</p>
      ${prose(operation.description)}
      ${operation.parameters && parameterTable(operation.parameters)}
      ${requestBody(operation)}
    </div>
    <div class="shown">
      <h4>Try it</h4>
      ${textBlock(curlOf(method, path, operation), 'curl command')}
      ${answer(operation.responses[200] as ResponseDocument)}
      ${errors(operation)}
    </div>
  </article>`;
}

/** The calls of every tag, a section each. */
export function restSections(document: OpenApiDocument, routes: readonly Route[]): Html {
  return html`${document.tags.map(
    ({ name, description }) => html`<section class="group" aria-labelledby="${sectionId(name)}">
      <h2 id="${sectionId(name)}">${name}</h2>
      ${prose(description)}
      ${callsOf(document, routes, name).map(callSection)}
    </section>`,
  )}`;
}

/** The anchor of the section with this title. */
export function sectionId(name: string): string {
  return `section-${name.toLowerCase().replaceAll(' ', '-')}`;
}
