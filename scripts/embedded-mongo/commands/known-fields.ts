import { type Document, isDocument } from '../bson-types.js';
import { CommandError, notServed } from '../errors.js';
import { isSimpleCollation } from '../index-spec.js';

/** Fields any command may carry: sessions, concerns and what drivers add by themselves. */
const GENERIC = [
  '$db',
  '$clusterTime',
  '$readPreference',
  'lsid',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
  'readConcern',
  'writeConcern',
  'maxTimeMS',
  'comment',
  'collation',
  'let',
];

const WRITE = ['ordered', 'bypassDocumentValidation', 'maxTimeMS'];
const FIND = [
  ...[
    'find',
    'filter',
    'projection',
    'sort',
    'hint',
    'skip',
    'limit',
    'batchSize',
    'singleBatch',
    'min',
    'max',
  ],
  ...[
    'returnKey',
    'showRecordId',
    'tailable',
    'awaitData',
    'noCursorTimeout',
    'allowPartialResults',
    'allowDiskUse',
  ],
];
const FIND_AND_MODIFY = [
  ...['findAndModify', 'findandmodify', 'query', 'sort', 'remove', 'update', 'new', 'fields', 'upsert'],
  ...['bypassDocumentValidation', 'arrayFilters', 'hint'],
];

/** The fields of the commands whose options decide over results; one that is not here would be ignored silently. */
const KNOWN = new Map<string, ReadonlySet<string>>(
  Object.entries({
    find: FIND,
    getMore: ['getMore', 'collection', 'batchSize'],
    count: ['count', 'query', 'limit', 'skip', 'hint'],
    distinct: ['distinct', 'key', 'query', 'hint'],
    aggregate: ['aggregate', 'pipeline', 'cursor', 'allowDiskUse', 'bypassDocumentValidation', 'hint'],
    insert: ['insert', 'documents', ...WRITE],
    update: ['update', 'updates', ...WRITE],
    delete: ['delete', 'deletes', ...WRITE],
    findAndModify: FIND_AND_MODIFY,
    findandmodify: FIND_AND_MODIFY,
    'update.updates': ['q', 'u', 'multi', 'upsert', 'collation', 'arrayFilters', 'hint', 'c'],
    'delete.deletes': ['q', 'limit', 'collation', 'hint'],
  }).map(([name, fields]) => [name, new Set(name.includes('.') ? fields : [...fields, ...GENERIC])]),
);

/**
 * Throws 40415, as mongod's command parser, for a field that a command (or `COMMAND.ARRAY` statement) does not know,
 * and NotImplemented for collations and constants, which would change the result.
 */
export function refuseUnknownFields(name: string, fields: Document): void {
  const known = KNOWN.get(name);
  for (const field of Object.keys(fields))
    if (known && !known.has(field))
      throw new CommandError(40415, `BSON field '${name}.${field}' is an unknown field.`);
  if (fields.collation !== undefined && !isSimpleCollation(fields.collation)) throw notServed('a collation');
  for (const constants of [fields.let, fields.c])
    if (known && isDocument(constants) && Object.keys(constants).length > 0)
      throw notServed("the 'let' option");
}
