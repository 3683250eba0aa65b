import fc from 'fast-check';

/** The keywords of a JSON Schema that `near` reads. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
}

/** Values that have broken services before. */
const odd: readonly unknown[] = [
  ...[null, true, 0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308],
  ...['', ' ', '0', '\u0000', '\uD800', '💥', '.*(a+)+$', '../../etc/passwd', '<script>', '$where', '%zz'],
  ...['x'.repeat(300), 'x'.repeat(6_000), [], [[]], [null], {}],
  ...[{ $ne: null }, { $gt: '' }, { $where: 'sleep(1000)' }, { length: 1e9 }, { toString: 'x' }],
  ...[
    { constructor: { prototype: { polluted: true } } },
    JSON.parse('{"then":1,"__proto__":{"polluted":true}}'),
  ],
  // JSON.stringify overflows the stack from about 3,000 levels on, depending on what calls it.
  JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`),
];

const oddNames = ['__proto__', 'constructor', 'then', 'length', 'toJSON', '$where', 'a.b', ''];

/** Any JSON value, odd ones above all. */
export const wild: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...odd) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** One value nine times out of ten, else others. */
export const rarely = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

interface Choices {
  /** Numbers and names of existing records, by the name of the field. */
  known?: Record<string, unknown[]>;
  /** What a value is replaced with. */
  wild?: fc.Arbitrary<unknown>;
}

function plain(schema: Schema, choices: Choices): fc.Arbitrary<unknown> {
  const { minimum = -2, maximum = 2 ** 40, maxLength = 300, maxItems = 20 } = schema;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return fc.oneof(...branches.map((one) => near(one, choices)));
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.format === 'email') return fc.constantFrom('author@example.org', 'Asker@example.org', 'a@b');
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: minimum - 1, max: Math.min(maximum, 2 ** 52) + 1 });
    case 'number':
      return fc.double({ min: minimum - 1, max: maximum + 1 });
    case 'boolean':
      return fc.boolean();
    case 'string': {
      const long = fc.constantFrom(maxLength, maxLength + 1).map((length) => 'x'.repeat(length));
      return fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength, unit: 'binary' }) }, long);
    }
    case 'array':
      return fc.array(near(schema.items ?? {}, choices), { maxLength: maxItems + 1 });
    case 'object':
      return objects(schema.properties ?? {}, choices);
    case 'null':
      return fc.constant(null);
    default:
      return choices.wild ?? wild;
  }
}

/** Objects of these fields, now and then without one or with others. */
function objects(fields: Record<string, Schema>, choices: Choices): fc.Arbitrary<object> {
  const entries = Object.entries(fields).map(([name, schema]) => {
    const known = choices.known?.[name];
    const value = near(schema, choices);
    const usual = known ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, value) : value;
    return fc.option(
      usual.map((one) => [name, one] as const),
      { nil: undefined, freq: 40 },
    );
  });
  const more = fc.tuple(fc.constantFrom(...oddNames, ...Object.keys(fields)), choices.wild ?? wild);
  return fc
    .tuple(...entries, rarely(undefined, more))
    .map((given) => Object.fromEntries(given.filter((one) => one !== undefined)));
}

/** Values of a schema, valid or nearly so: any part of them may be wild, or just out of bounds. */
export function near(schema: Schema, choices: Choices = {}): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 40, arbitrary: plain(schema, choices) },
    { weight: 1, arbitrary: choices.wild ?? wild },
  );
}

/** The schema of values like an example. */
export function like(example: unknown): Schema {
  if (Array.isArray(example))
    return { type: 'array', items: example.length > 0 ? { anyOf: example.map(like) } : {} };
  if (typeof example !== 'object' || example === null || Object.getPrototypeOf(example) !== Object.prototype)
    return { const: example };
  const fields = Object.entries(example).map(([name, value]) => [name, like(value)]);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

/** JSON as sent, sometimes damaged. */
export function jsonOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const text = value.map((one) => JSON.stringify(one) ?? '');
  return fc.oneof({ weight: 12, arbitrary: text }, { weight: 1, arbitrary: damaged(text) });
}

/** Texts of which a part is cut out or replaced. */
export const damaged = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.nat(400), fc.nat(20), fc.string({ unit: 'binary', maxLength: 8 }))
    .map(([whole, at, length, instead]) => whole.slice(0, at) + instead + whole.slice(at + length));
