import { type FilterNode, parseFilter } from '../query/filter.js';
import { compileMatcher, type Matcher } from '../query/matcher.js';
import { type Document, isDocument, isTruthy, numericValue } from '../values/bson-types.js';
import { badValue, CommandError, notServed } from '../values/errors.js';
import { type FieldPath, parsePath } from '../values/field-path.js';

export interface IndexField {
  name: string;
  path: FieldPath;
  descending: boolean;
}

/** What an index is, parsed from the document createIndexes takes. */
export interface IndexSpec {
  name: string;
  fields: IndexField[];
  descending: boolean[];
  unique: boolean;
  sparse: boolean;
  partial?: { filter: FilterNode; matches: Matcher };
  /** As it was given, for listIndexes. */
  document: Document;
}

const KNOWN_OPTIONS = new Set([
  'v',
  'key',
  'name',
  'unique',
  'sparse',
  'background',
  'partialFilterExpression',
  'ns',
]);

const NOT_SERVED = [
  ...['collation', 'expireAfterSeconds', 'hidden', 'weights', 'wildcardProjection', '2dsphereIndexVersion'],
];

/** The index every collection has. */
export const ID_INDEX: Document = { v: 2, key: { _id: 1 }, name: '_id_' };

/**
 * Parses one index specification. Throws CannotCreateIndex (67) for a bad key pattern, InvalidIndexSpecificationOption
 * (197) for an unknown option, NotImplemented for text, geo, hashed, wildcard and TTL indexes and collations.
 */
export function parseIndexSpec(document: unknown): IndexSpec {
  if (!isDocument(document) || !isDocument(document.key))
    throw badValue("The 'key' field of an index is required");
  const { key } = document;
  const fields = Object.keys(key).map((name) => parseIndexField(name, key[name]));
  if (fields.length === 0) throw new CommandError(67, 'Index keys cannot be empty.');
  if (fields.length > 32) throw new CommandError(67, 'Index key pattern has too many fields (32 at most)');
  const name = document.name ?? fields.map((field) => `${field.name}_${field.descending ? -1 : 1}`).join('_');
  if (typeof name !== 'string' || name === '')
    throw new CommandError(67, 'index name must be a non-empty string');
  for (const option of Object.keys(document)) {
    if (option === 'collation' && isSimpleCollation(document.collation)) continue;
    if (NOT_SERVED.includes(option)) throw notServed(`the index option '${option}'`);
    if (!KNOWN_OPTIONS.has(option))
      throw new CommandError(197, `The field '${option}' is not valid for an index specification.`);
  }
  const spec: IndexSpec = {
    name,
    fields,
    descending: fields.map((field) => field.descending),
    unique: isTruthy(document.unique) || isIdKey(fields),
    sparse: isTruthy(document.sparse),
    document: storedForm(document, name),
  };
  if (document.partialFilterExpression !== undefined) {
    if (spec.sparse) throw new CommandError(67, 'cannot mix "partialFilterExpression" and "sparse" options');
    const filter = parseFilter(document.partialFilterExpression);
    refuseInPartial(filter);
    spec.partial = { filter, matches: compileMatcher(filter) };
  }
  return spec;
}

export function isSimpleCollation(collation: unknown): boolean {
  return isDocument(collation) && collation.locale === 'simple';
}

function isIdKey(fields: readonly IndexField[]): boolean {
  return fields.length === 1 && fields[0]?.name === '_id';
}

function parseIndexField(name: string, direction: unknown): IndexField {
  if (typeof direction === 'string') throw notServed(`an index of type '${direction}'`);
  const number = Number(numericValue(direction));
  if (!Number.isFinite(number) || number === 0)
    throw new CommandError(67, `Values in the index key pattern must be 1 or -1, for '${name}'`);
  if (name.includes('$**')) throw notServed('a wildcard index');
  if (name.split('.').some((part) => part === '' || part.startsWith('$')))
    throw new CommandError(67, `Index key contains an illegal field name: '${name}'`);
  return { name, path: parsePath(name), descending: number < 0 };
}

/** Partial filters may hold equality, ranges, $exists: true, $type, $in, $and and $or ("Partial Indexes"). */
function refuseInPartial(node: FilterNode): void {
  if (node.kind === 'and' || node.kind === 'or') node.children.forEach(refuseInPartial);
  else if (!['compare', 'exists', 'type', 'in'].includes(node.kind))
    throw new CommandError(67, `Expression not supported in partial index: ${node.kind}`);
}

function storedForm(document: Document, name: string): Document {
  const { ns: _ns, background: _background, ...kept } = document;
  return { v: 2, ...kept, name };
}
