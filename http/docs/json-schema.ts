import { z } from 'zod';

/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1) as plain data. */
export interface JsonSchema {
  [keyword: string]: unknown;
}

/** A schema that is described once, under components, in both documents. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function text(description: string, example?: string): JsonSchema {
  return { type: 'string', description, ...(example === undefined ? {} : { examples: [example] }) };
}

/** A whole number; everything the interface calls "number" is one, but for coordinates. */
export function number(description: string, example: number): JsonSchema {
  return { type: 'integer', description, examples: [example] };
}

export function flag(description: string): JsonSchema {
  return { type: 'boolean', description };
}

export function listOf(items: JsonSchema, description: string): JsonSchema {
  return { type: 'array', description, items };
}

/** A schema that is used in a place where it means something of its own. */
export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/**
 * An object with exactly these fields. The type argument is what the service really answers with, so
 * a field that is missing here, or too much, does not compile.
 *
 * @param optional fields that may be absent
 */
export function record<T>(
  description: string,
  fields: { [K in keyof T]-?: JsonSchema },
  optional: (keyof T & string)[] = [],
): JsonSchema {
  return {
    type: 'object',
    description,
    properties: fields,
    required: Object.keys(fields).filter((name) => !optional.includes(name as keyof T & string)),
    additionalProperties: false,
  };
}

/** Numbers in a path or query are checked as text of digits; clients are told of the numbers. */
const DIGITS: Record<string, JsonSchema> = {
  '^[1-9]\\d{0,15}$': { type: 'integer', minimum: 1 },
  '^\\d{0,10}$': { type: 'integer', minimum: 0 },
};

/** Takes out what the conversion adds and no reader needs. */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  const digits = DIGITS[String(jsonSchema.pattern)];
  if (digits) {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, digits);
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minLength === 0) delete jsonSchema.minLength;
  // zod's own pattern of an e-mail address says no more than the format, in 200 characters.
  if (jsonSchema.format === 'email') delete jsonSchema.pattern;
}

/** What a zod schema accepts, before it transforms it. */
export function acceptedBy(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...accepted } = z.toJSONSchema(schema, {
    io: 'input',
    override: tidy as never,
  }) as JsonSchema;
  return accepted;
}

/** The schemas that a part of a document refers to, also through one another. */
export function schemasUsedIn(
  part: unknown,
  schemas: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const used = new Set<string>();
  function look(value: unknown): void {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      look(schemas[name]);
    }
  }
  look(part);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** The object schemas in which a dotted path such as `imageList[].url` may go on. */
function objectsOf(schema: JsonSchema): JsonSchema[] {
  const inner = schema.anyOf as JsonSchema[] | undefined;
  return inner ? inner.flatMap(objectsOf) : schema.properties ? [schema] : [];
}

function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  if (schema.items) return schema.items as JsonSchema;
  const inner = (schema.anyOf ?? []) as JsonSchema[];
  return inner.map(itemsOf).find((found) => found !== undefined);
}

/** Every field of an object schema, nested ones too, with its dotted path; once for each alternative. */
function fieldsOf(schema: JsonSchema, prefix = ''): [path: string, field: JsonSchema][] {
  return objectsOf(schema).flatMap((object) =>
    Object.entries(object.properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
      const path = prefix + name;
      const items = itemsOf(field);
      const nested = items ? fieldsOf(items, `${path}[].`) : fieldsOf(field, `${path}.`);
      return [[path, field] as [string, JsonSchema], ...nested];
    }),
  );
}

/**
 * Adds what each field means to a schema made from zod, by dotted path.
 * @throws Error for a field without a meaning, or a meaning without a field
 */
export function describeFields(schema: JsonSchema, meanings: Record<string, string>): JsonSchema {
  const copy = structuredClone(schema);
  const fields = fieldsOf(copy);
  for (const [path, field] of fields) {
    const meaning = meanings[path];
    if (meaning === undefined) throw new Error(`the documents do not say what ${path} means`);
    field.description = meaning;
  }
  const known = new Set(fields.map(([path]) => path));
  const unknown = Object.keys(meanings).filter((path) => !known.has(path));
  if (unknown.length > 0)
    throw new Error(`the documents describe fields that are not: ${unknown.join(', ')}`);
  return copy;
}
