import { z } from 'zod';

/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1) as plain data. */
export interface JsonSchema {
  [keyword: string]: unknown;
}

/** Numbers in a path or query are validated as text of digits, but documented as numbers. */
const DIGITS: Record<string, JsonSchema> = {
  '^[1-9]\\d{0,15}$': { type: 'integer', minimum: 1 },
  '^\\d{0,10}$': { type: 'integer', minimum: 0 },
};

/**
 * Removes what zod adds and no reader needs. Metadata uses `example` and `fallback`, because zod drops
 * `examples` and `default` of any schema that transforms its input.
 */
function tidy(json: JsonSchema): void {
  const digits = DIGITS[String(json.pattern)];
  if (digits) {
    delete json.pattern;
    Object.assign(json, digits);
  }
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.minLength === 0) delete json.minLength;
  if (Number.isInteger(json.const)) json.type = 'integer';
  // zod's pattern of an e-mail address, 200 characters, adds nothing to the format.
  if (json.format === 'email') delete json.pattern;
  if (Array.isArray(json.prefixItems)) {
    json.items = json.prefixItems[0];
    delete json.prefixItems;
  }
  if ('example' in json) json.examples = [json.example];
  if ('fallback' in json) json.default = json.fallback;
  delete json.example;
  delete json.fallback;
}

/** The schemas of one document: one that has an `id` is stored once under components and referenced. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};

  /** What a zod schema accepts, before it transforms it. */
  accepted(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'input');
  }

  /** What a zod schema yields. */
  yielded(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'output');
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const converted = z.toJSONSchema(schema, { io, override: ({ jsonSchema }) => tidy(jsonSchema) });
    const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/');
    const { $schema: _, $defs, ...json } = JSON.parse(text);
    Object.assign(this.components, $defs);
    return json;
  }

  /** Stores a schema under a name, unless it refers to one. @returns a reference to it */
  named(name: string, description: string, schema: JsonSchema): JsonSchema {
    if (schema.$ref) return schema;
    this.components[name] = { description, ...schema };
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The description of a schema, or of the component it refers to. */
  description(schema: JsonSchema): string {
    return String(schema.description ?? this.#target(schema)?.description);
  }

  #target({ $ref }: JsonSchema): JsonSchema | undefined {
    return this.components[String($ref).replace(/.*\//, '')];
  }

  /** An example made of the examples of a schema's fields. */
  example(schema: JsonSchema): unknown {
    if (Array.isArray(schema.examples)) return schema.examples[0];
    const target = this.#target(schema);
    if (target) return this.example(target);
    if ('const' in schema) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    const [first] = (schema.anyOf ?? []) as JsonSchema[];
    if (first) return this.example(first);
    if (schema.type === 'array') return [this.example(schema.items as JsonSchema)];
    if (schema.type === 'object') {
      const fields = Object.entries(schema.properties as Record<string, JsonSchema>);
      return Object.fromEntries(fields.map(([name, field]) => [name, this.example(field)]));
    }
    return { integer: 1, boolean: false, null: null }[String(schema.type)];
  }
}
