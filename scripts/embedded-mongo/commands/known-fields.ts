import { isSimpleCollation } from '../indexes/index-spec.js';
import { type Document, isDocument } from '../values/bson-types.js';
import { CommandError, notServed } from '../values/errors.js';

/** Fields any command may carry: sessions, concerns and what drivers add by themselves. */
const GENERIC = [
  ...['$db', '$clusterTime', '$readPreference', 'lsid', 'apiVersion', 'apiStrict', 'apiDeprecationErrors'],
  ...['readConcern', 'writeConcern', 'maxTimeMS', 'comment'],
];

/** What MongoDB lets `create` say about a collection, which here is always a plain one. */
export const COLLECTION_OPTIONS = [
  ...['capped', 'autoIndexId', 'idIndex', 'size', 'max', 'storageEngine', 'validator', 'validationLevel'],
  ...['validationAction', 'indexOptionDefaults', 'viewOn', 'pipeline', 'timeseries', 'clusteredIndex'],
  ...['expireAfterSeconds', 'changeStreamPreAndPostImages', 'encryptedFields', 'temp'],
];

const WRITE = ['ordered', 'bypassDocumentValidation'];
const FIND = [
  ...['filter', 'projection', 'sort', 'hint', 'skip', 'limit', 'batchSize', 'singleBatch', 'min', 'max'],
  ...['returnKey', 'showRecordId', 'tailable', 'awaitData', 'noCursorTimeout', 'allowPartialResults'],
  ...['allowDiskUse', 'collation', 'let'],
];
const AGGREGATE = [
  ...[
    'pipeline',
    'explain',
    'cursor',
    'allowDiskUse',
    'bypassDocumentValidation',
    'hint',
    'collation',
    'let',
  ],
];
const FIND_AND_MODIFY = [
  ...['query', 'sort', 'remove', 'update', 'new', 'fields', 'upsert', 'bypassDocumentValidation'],
  ...['arrayFilters', 'hint', 'collation', 'let'],
];

/**
 * The fields of each command beside its name and GENERIC. A name with a dot is that of a document inside a command,
 * which has these alone. Not listed: commands that take anything (the handshake, serverStatus, getParameter) or are
 * refused altogether.
 */
const FIELDS: Record<string, string[]> = {
  find: FIND,
  getMore: ['collection', 'batchSize'],
  count: ['query', 'limit', 'skip', 'hint', 'collation'],
  distinct: ['key', 'query', 'hint', 'collation'],
  aggregate: AGGREGATE,
  insert: ['documents', ...WRITE],
  update: ['updates', 'let', ...WRITE],
  delete: ['deletes', 'let', ...WRITE],
  findAndModify: FIND_AND_MODIFY,
  findandmodify: FIND_AND_MODIFY,
  explain: ['verbosity'],
  create: [...COLLECTION_OPTIONS, 'collation'],
  drop: [],
  dropDatabase: [],
  listCollections: ['filter', 'nameOnly', 'authorizedCollections', 'cursor'],
  listDatabases: ['filter', 'nameOnly', 'authorizedDatabases'],
  listIndexes: ['cursor'],
  createIndexes: ['indexes', 'ignoreUnknownIndexOptions', 'commitQuorum'],
  dropIndexes: ['index'],
  deleteIndexes: ['index'],
  killCursors: ['cursors'],
  connectionStatus: ['showPrivileges'],
  ping: [],
  buildInfo: [],
  buildinfo: [],
  endSessions: [],
  refreshSessions: [],
  startSession: [],
  logout: [],
  whatsmyuri: [],
  'update.updates': ['q', 'u', 'multi', 'upsert', 'collation', 'arrayFilters', 'hint', 'sort', 'c'],
  'delete.deletes': ['q', 'limit', 'collation', 'hint'],
  'aggregate.cursor': ['batchSize'],
  'listCollections.cursor': ['batchSize'],
  'listIndexes.cursor': ['batchSize'],
};

const KNOWN = new Map(
  Object.entries(FIELDS).map(([name, fields]) => [
    name,
    new Set(name.includes('.') ? fields : [name, ...fields, ...GENERIC]),
  ]),
);

/**
 * Throws 40415, as mongod's command parser, for a field that a command (or a document inside it, `COMMAND.FIELD`)
 * does not know, and NotImplemented for collations, array filters and constants, which would change the result.
 */
export function refuseUnknownFields(name: string, fields: Document): void {
  const known = KNOWN.get(name);
  if (!known) return;
  for (const field of Object.keys(fields))
    if (!known.has(field))
      throw new CommandError(40415, `BSON field '${name}.${field}' is an unknown field.`);
  if (fields.collation !== undefined && !isSimpleCollation(fields.collation)) throw notServed('a collation');
  if (fields.arrayFilters !== undefined) throw notServed("the 'arrayFilters' option");
  for (const constants of [fields.let, fields.c])
    if (isDocument(constants) && Object.keys(constants).length > 0) throw notServed("the 'let' option");
}
