/** Markup that is safe to put in a page: values in it have been escaped. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = Html | string | number | undefined | false | Part[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

function render(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(render).join('');
  return escapeText(String(part));
}

/** Markup with values: text is escaped, lists are joined, `undefined` and `false` are left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((text, i) => text + render(parts[i])).join(''));
}

/** A line of a description: `code` and **strong** are marked, documents are linked. */
function inline(line: string): Part[] {
  return line.split(/(`[^`]+`|\*\*[^*]+\*\*|\/(?:openapi|asyncapi)\.json)/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`;
    if (piece.startsWith('**')) return html`<strong>${piece.slice(2, -2)}</strong>`;
    if (piece.startsWith('/')) return html`<a href="${piece}">${piece}</a>`;
    return piece;
  });
}

/** A description of the documents (a subset of CommonMark) in paragraphs. */
export function prose(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

/** A description without paragraphs, for table cells. */
export function phrase(text: string): Html {
  return html`${inline(text)}`;
}

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?)/g;

function coloured(json: string): Html {
  const pieces: Part[] = [];
  let end = 0;
  for (const match of json.matchAll(JSON_TOKEN)) {
    const [token, text, colon, word] = match;
    pieces.push(json.slice(end, match.index));
    end = match.index + token.length;
    const kind = text === undefined ? (word ? 'word' : 'number') : colon ? 'key' : 'text';
    pieces.push(html`<span class="json-${kind}">${text ?? token}</span>${colon}`);
  }
  return html`${pieces}${json.slice(end)}`;
}

/** A value as JSON, in a scrollable box that can be focused by keyboard. */
export function jsonBlock(value: unknown, label: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${coloured(JSON.stringify(value, null, 2))}</code></pre>`;
}

/** Text to copy; ORIGIN stands for the address of the service, which the page fills in. */
export function textBlock(text: string, label: string): Html {
  const pieces = text.split('ORIGIN').flatMap((piece, i) => (i === 0 ? [piece] : [ORIGIN, piece]));
  return html`<pre tabindex="0" aria-label="${label}"><code>${pieces}</code></pre>`;
}

const ORIGIN = html`<span data-origin>http://localhost:8080</span>`;
