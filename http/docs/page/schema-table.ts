import type { JsonSchema } from '../schemas.js';
import { type Html, html, phrase } from './html.js';

function nameOf(reference: unknown): string {
  return String(reference).replace(/.*\//, '');
}

function alternativesOf(schema: JsonSchema): JsonSchema[] {
  return (schema.anyOf as JsonSchema[] | undefined) ?? [];
}

/** The type of a value, with links to the schemas that have their own sections. */
export function typeOf(schema: JsonSchema): Html {
  if (schema.$ref) return html`<a href="#schema-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`;
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) {
    return html`${alternatives.map((one, i) => html`${i > 0 && ' or '}${typeOf(one)}`)}`;
  }
  if (schema.type === 'array') return html`array of ${typeOf(schema.items as JsonSchema)}`;
  return html`${String(schema.type ?? 'any')}`;
}

function range(low: unknown, high: unknown, unit = ''): string | undefined {
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`;
  if (high !== undefined) return `at most ${high}${unit}`;
  return low === undefined ? undefined : `at least ${low}${unit}`;
}

/** The limits of a value; of alternatives, those of the first that has any. */
function limitsOf(schema: JsonSchema): Html[] {
  const facts: Html[] = [];
  const values = (schema.enum ?? ('const' in schema ? [schema.const] : undefined)) as unknown[] | undefined;
  if (values) {
    facts.push(
      html`${values.map((value, i) => html`${i > 0 && ' · '}<code>${JSON.stringify(value)}</code>`)}`,
    );
  }
  const numbers = range(schema.minimum, schema.maximum);
  if (numbers) facts.push(html`${numbers}`);
  const characters = range(schema.minLength, schema.maxLength, ' characters');
  if (characters) facts.push(html`${characters}`);
  const items = range(schema.minItems, schema.maxItems, ' items');
  if (items) facts.push(html`${schema.minItems === schema.maxItems ? `${schema.minItems} items` : items}`);
  if (schema.format) facts.push(html`${String(schema.format)}`);
  if (schema.default !== undefined) facts.push(html`default <code>${JSON.stringify(schema.default)}</code>`);
  if (facts.length > 0) return facts;
  return (
    alternativesOf(schema)
      .map(limitsOf)
      .find((found) => found.length > 0) ?? []
  );
}

/** The limits of a value, to follow its description. */
export function limits(schema: JsonSchema): Html | false {
  const facts = limitsOf(schema);
  return (
    facts.length > 0 &&
    html`<span class="limits">${facts.map((fact, i) => html`${i > 0 && '; '}${fact}`)}</span>`
  );
}

/** The object inside a field, without following references: those have their own sections. */
function nestedObject(schema: JsonSchema): { object: JsonSchema; suffix: string } | undefined {
  if (schema.properties) return { object: schema, suffix: '.' };
  if (schema.items) {
    const inner = nestedObject(schema.items as JsonSchema);
    return inner && { object: inner.object, suffix: `[]${inner.suffix}` };
  }
  return alternativesOf(schema)
    .map(nestedObject)
    .find((found) => found !== undefined);
}

function rows(object: JsonSchema, prefix: string): Html[] {
  const required = (object.required ?? []) as string[];
  return Object.entries(object.properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
    const nested = nestedObject(field);
    return [
      html`<tr>
        <th scope="row"><code>${prefix && html`<span class="prefix">${prefix}</span>`}${name}</code></th>
        <td class="type">${typeOf(field)}${!required.includes(name) && html` <span class="optional">optional</span>`}</td>
        <td>${phrase(String(field.description ?? ''))} ${limits(field)}</td>
      </tr>`,
      ...(nested ? rows(nested.object, prefix + name + nested.suffix) : []),
    ];
  });
}

/** A table of all fields of an object, nested ones by dotted path. */
function fieldTable(object: JsonSchema, caption: string): Html {
  if (!object.properties) return html``;
  return html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table>
    <caption class="unseen">${caption}</caption>
    <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
    <tbody>${rows(object, '')}</tbody>
  </table></div>`;
}

/** The fields of a schema, or of each of its alternatives. */
export function schemaTables(schema: JsonSchema, caption: string): Html {
  const alternatives = alternativesOf(schema).filter(({ properties }) => properties);
  if (alternatives.length === 0) return fieldTable(schema, caption);
  return html`${alternatives.map(
    (one) => html`<h5>${String(one.title ?? 'Either')}</h5>${fieldTable(one, `${caption}: ${one.title}`)}`,
  )}`;
}
