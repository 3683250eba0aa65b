import type { JsonSchema } from './json-schema.js';

/** What stands for a value whose schema gives no example. */
const STAND_INS: Record<string, unknown> = {
  integer: 1,
  boolean: false,
};

/**
 * An example made of the examples of a schema's fields.
 * @param schemas what references point to
 */
export function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (typeof schema.$ref === 'string') {
    const target = schemas[schema.$ref.replace(/.*\//, '')];
    if (!target) throw new Error(`no such schema: ${schema.$ref}`);
    return exampleOf(target, schemas);
  }
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [first] = (schema.anyOf ?? []) as JsonSchema[];
  if (first) return exampleOf(first, schemas);
  if (schema.type === 'array') return [exampleOf(schema.items as JsonSchema, schemas)];
  if (schema.type === 'object') {
    const fields = Object.entries(schema.properties as Record<string, JsonSchema>);
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas)]));
  }
  return STAND_INS[String(schema.type)];
}
