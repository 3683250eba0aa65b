import { conjunctsOf, type FilterNode, parseFilter } from '../query/filter.js';
import { compileMatcher, type Matcher } from '../query/matcher.js';
import { type Document, isDocument, isTruthy, numericValue } from '../values/bson-types.js';
import { badValue, CommandError, notServed } from '../values/errors.js';
import { type FieldOrder, orderKey, parsePath } from '../values/field-path.js';

/** LMDB's limit for a key with the default page size. */
export const MAX_KEY_BYTES = 1978;
const OVERHEAD = 16;

/** A parsed specification of createIndexes. */
export interface IndexSpec {
  name: string;
  fields: FieldOrder[];
  unique: boolean;
  partial?: { conjuncts: FilterNode[]; matches: Matcher };
  /** The original document, for listIndexes. */
  document: Document;
}

const OPTIONS = ['v', 'key', 'name', 'unique', 'partialFilterExpression'];

/** The index every collection has. */
export const ID_INDEX: Document = { v: 2, key: { _id: 1 }, name: '_id_' };

/**
 * Parses one index specification. Throws CannotCreateIndex (67) for a bad key pattern, NotImplemented (238) for other
 * options and kinds of indexes.
 */
export function parseIndexSpec(document: unknown): IndexSpec {
  if (!isDocument(document) || !isDocument(document.key))
    throw badValue("The 'key' field of an index is required");
  const option = Object.keys(document).find((key) => !OPTIONS.includes(key));
  if (option) throw notServed(`the index option '${option}'`);
  const { partialFilterExpression: partial } = document;
  const fields = Object.entries(document.key).map(([name, direction]) => parseIndexField(name, direction));
  if (fields.length < 1 || fields.length > 32) throw new CommandError(67, 'An index has 1 to 32 fields');
  const name = document.name ?? fields.map((field) => `${field.name}_${field.descending ? -1 : 1}`).join('_');
  if (typeof name !== 'string' || name === '')
    throw new CommandError(67, 'index name must be a non-empty string');
  return {
    name,
    fields,
    unique: isTruthy(document.unique) || (fields.length === 1 && fields[0]?.name === '_id'),
    ...(partial === undefined ? {} : { partial: parsePartial(partial) }),
    document: { v: 2, ...document, name },
  };
}

function parseIndexField(name: string, direction: unknown): FieldOrder {
  if (typeof direction === 'string') throw notServed(`an index of type '${direction}'`);
  const number = numericValue(direction);
  if (!number) throw new CommandError(67, `Values in the index key pattern must be 1 or -1, for '${name}'`);
  return { name, path: parsePath(name), descending: number < 0 };
}

/** A partial filter holds equalities and `$exists: true`. */
function parsePartial(expression: unknown): IndexSpec['partial'] {
  const filter = parseFilter(expression);
  const conjuncts = conjunctsOf(filter);
  if (!conjuncts.every((node) => node.kind === 'exists' || (node.kind === 'in' && node.values.length === 1)))
    throw notServed('a partial index by anything but equality and $exists: true');
  return { conjuncts, matches: compileMatcher(filter) };
}

/**
 * The key of a document in an index; undefined if a partial index excludes it. Throws NotImplemented (238)
 * for an array in an indexed field, 17280 for a key that is too long to be stored.
 */
export function indexKey(spec: IndexSpec, document: Document): Buffer | undefined {
  if (spec.partial && !spec.partial.matches(document)) return undefined;
  const key = orderKey(spec.fields, document);
  if (key.length > MAX_KEY_BYTES - OVERHEAD)
    throw new CommandError(17280, `The key for the index '${spec.name}' is too long: ${key.length} bytes`);
  return key;
}
