import { listErrorCodes } from '../../../domain/kernel/errors.js';
import type { Route } from '../../route.js';
import type { AsyncApiDocument, OpenApiDocument } from '../documents.js';
import { type Html, html, phrase, prose, textBlock } from './html.js';
import { callsOf, methodBadge, restSections, sectionId } from './rest-sections.js';
import { schemaTables } from './schema-table.js';
import { directionBadge, socketEvents, socketSections } from './socket-sections.js';

function navigationGroup(
  title: string,
  anchor: string,
  entries: { id: string; badge: Html; text: string }[],
): Html {
  return html`<li><a class="group-link" href="#${anchor}">${title}</a>
    ${
      entries.length > 0 &&
      html`<ul>${entries.map(({ id, badge, text }) => html`<li><a href="#${id}">${badge} <span>${text}</span></a></li>`)}</ul>`
    }</li>`;
}

function navigation(openApi: OpenApiDocument, asyncApi: AsyncApiDocument, routes: readonly Route[]): Html {
  const events = socketEvents(asyncApi).map(({ id, direction, message }) => ({
    id,
    direction,
    badge: directionBadge(direction),
    text: message.name,
  }));
  return html`<nav aria-label="Contents"><ul>
    ${navigationGroup('Getting started', 'top', [])}
    ${openApi.tags.map(({ name }) =>
      navigationGroup(
        name,
        sectionId(name),
        callsOf(openApi, routes, name).map(({ method, operation }) => ({
          id: operation.operationId,
          badge: methodBadge(method),
          text: operation.summary,
        })),
      ),
    )}
    ${navigationGroup('Sockets', 'section-connecting', [])}
    ${navigationGroup(
      'What clients send',
      'section-client-events',
      events.filter(({ direction }) => direction === 'client'),
    )}
    ${navigationGroup(
      'What the server sends',
      'section-server-events',
      events.filter(({ direction }) => direction === 'server'),
    )}
    ${navigationGroup('Schemas', 'section-schemas', [])}
    ${navigationGroup('Error codes', 'section-errors', [])}
  </ul></nav>`;
}

const FIRST_CALLS = `TOKEN=$(npm run --silent token -- you@example.org --nickname You)
curl -s 'ORIGIN/community/list/recent?size=3'
curl -s ORIGIN/chatroom -H "Authorization: $TOKEN"`;

function introduction({ info }: OpenApiDocument): Html {
  return html`<section class="group intro">
    <h1>${info.title}</h1>
    <div class="call">
      <div class="about">
        ${prose(info.description)}
        <p><strong>Authentication.</strong> The <code>Authorization</code> header carries the access token (JWT): raw, or behind <code>Bearer</code>. A token that is sent and bad is refused with 401 everywhere, also where none is needed.</p>
        <p class="downloads"><a href="/openapi.json">OpenAPI 3.1</a> <a href="/asyncapi.json">AsyncAPI 3.1</a></p>
      </div>
      <div class="shown"><h4>First calls</h4>
        ${textBlock(FIRST_CALLS, 'First calls')}
        <p class="note">The examples below use the same <code>TOKEN</code>.</p>
      </div>
    </div>
  </section>`;
}

function schemaSections(openApi: OpenApiDocument, asyncApi: AsyncApiDocument): Html {
  const schemas = { ...openApi.components.schemas, ...asyncApi.components.schemas };
  return html`<section class="group" aria-labelledby="section-schemas">
    <h2 id="section-schemas">Schemas</h2>
    <p>What the service answers with and sends. Objects hold exactly these fields.</p>
    ${Object.entries(schemas).map(
      ([name, schema]) => html`<article class="schema" id="schema-${name}">
        <h3><a class="anchor" href="#schema-${name}">${name}</a></h3>
        <p>${phrase(String(schema.description))}</p>
        ${schemaTables(schema, name)}
      </article>`,
    )}
  </section>`;
}

function errorSection(): Html {
  return html`<section class="group" aria-labelledby="section-errors">
    <h2 id="section-errors">Error codes</h2>
    <p>The closed list of what a client can be told, over REST and sockets alike. <em>Retry</em>: the same request may succeed later.</p>
    <div class="table" role="region" aria-label="Error codes" tabindex="0"><table>
      <caption class="unseen">Error codes</caption>
      <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Retry</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${listErrorCodes().map(
        ({ code, status, retryable, text }) =>
          html`<tr><td>${status}</td><th scope="row"><code>${code}</code></th><td>${retryable ? 'yes' : 'no'}</td><td>${text}</td></tr>`,
      )}</tbody>
    </table></div>
  </section>`;
}

/**
 * The page that shows both documents; it is complete before any script runs.
 * @param routes in the order in which their calls are shown
 */
export function renderPage(
  openApi: OpenApiDocument,
  asyncApi: AsyncApiDocument,
  routes: readonly Route[],
): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>API documents</title>
  <link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/docs/docs.css">
  <script src="/docs/docs.js" type="module"></script>
</head>
<body>
  <a class="skip" href="#top">Skip to the content</a>
  <header>
    <a class="brand" href="#top"><img src="/docs/icon.svg" alt="" width="28" height="28"> API documents</a>
    <button id="menu" type="button" aria-expanded="false" aria-controls="contents">Contents</button>
  </header>
  <aside id="contents">
    <label class="unseen" for="filter">Filter the contents</label>
    <input id="filter" type="search" placeholder="Filter, e.g. message" autocomplete="off" hidden>
    ${navigation(openApi, asyncApi, routes)}
  </aside>
  <main id="top" tabindex="-1">
    ${introduction(openApi)}
    ${restSections(openApi, routes)}
    ${socketSections(asyncApi)}
    ${schemaSections(openApi, asyncApi)}
    ${errorSection()}
  </main>
</body>
</html>
`;
  return page.markup;
}
