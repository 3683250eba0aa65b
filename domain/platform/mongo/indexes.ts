import mongoose, { type Connection, type Model, type mongo } from 'mongoose';

type Index = [key: mongo.IndexSpecification & object, options: mongo.CreateIndexesOptions];

const textOf = (key: object) => JSON.stringify(Object.entries(key));

/** Whether a collection's indexes include this one. */
function includes(listed: mongo.IndexDescriptionInfo[], [key, { unique }]: Index): boolean {
  return listed.some(
    (index) => textOf(index.key) === textOf(key) && Boolean(index.unique) === Boolean(unique),
  );
}

const nameOf = (collection: string, [key, { unique }]: Index) =>
  `${collection} ${JSON.stringify(key)}${unique ? ' unique' : ''}`;

const allModels = () => Object.values(mongoose.models) as Model<unknown>[];

const indexesOf = (model: Model<unknown>) => model.schema.indexes() as Index[];

/** The indexes of a collection; none if it does not exist. */
export async function listIndexes(
  connection: Connection,
  collection: string,
): Promise<mongo.IndexDescriptionInfo[]> {
  // MongoDB refuses to list those of a collection that does not exist.
  const found = await connection.listCollections();
  if (!found.some(({ name }) => name === collection)) return [];
  return connection.collection(collection).listIndexes().toArray();
}

/** The indexes of the models that the database does not have, one line each. */
export async function missingIndexes(connection: Connection): Promise<string[]> {
  const missing: string[] = [];
  for (const model of allModels()) {
    const { name } = model.collection;
    const listed = await listIndexes(connection, name);
    missing.push(
      ...indexesOf(model)
        .filter((index) => !includes(listed, index))
        .map((index) => nameOf(name, index)),
    );
  }
  return missing;
}

/** A unique index that is missing beside records, with what builds it. */
const refusal = (collection: string, index: Index) =>
  `${nameOf(collection, index)} (npm run verify -- --repair builds it)`;

const missingError = (missing: string[]) => new Error(`missing database indexes: ${missing.join('; ')}`);

/**
 * Creates a model's indexes, except, unless told to, unique ones that a collection with records lacks.
 * @returns those that are missing then
 */
async function buildIndexes(
  model: Model<unknown>,
  connection: Connection,
  isUniqueToo: boolean,
): Promise<string[]> {
  const { name } = model.collection;
  await model.createCollection();
  const collection = connection.collection(name);
  const wanted = indexesOf(model);
  const before = await collection.listIndexes().toArray();
  const lacking = wanted.filter((index) => index[1].unique && !includes(before, index));
  const isFilled = lacking.length > 0 && (await collection.estimatedDocumentCount()) > 0;
  const refused = isFilled && !isUniqueToo ? lacking : [];
  for (const index of wanted) if (!refused.includes(index)) await collection.createIndex(...index);
  const after = await collection.listIndexes().toArray();
  return wanted
    .filter((index) => !includes(after, index))
    .map((index) => (refused.includes(index) ? refusal(name, index) : nameOf(name, index)));
}

/**
 * Creates the indexes of every model and verifies them. Without the unique ones the domain's promises do not
 * hold, so a process must not start without them, and does not build one that is missing beside records: they
 * may break it already (fault 35).
 *
 * @param isUniqueToo builds those, too
 * @throws Error naming the missing indexes
 */
export async function ensureIndexes(connection: Connection, isUniqueToo = false): Promise<void> {
  const missing: string[] = [];
  for (const model of allModels()) missing.push(...(await buildIndexes(model, connection, isUniqueToo)));
  if (missing.length > 0) throw missingError(missing);
}

/**
 * Checks what the domain's promises rest on, and writes nothing.
 * @throws Error naming the unique indexes that are missing beside records
 */
export async function requireUniqueIndexes(connection: Connection): Promise<void> {
  const missing: string[] = [];
  for (const model of allModels()) {
    const { name } = model.collection;
    const listed = await listIndexes(connection, name);
    const lacking = indexesOf(model).filter((index) => index[1].unique && !includes(listed, index));
    if (lacking.length > 0 && (await connection.collection(name).estimatedDocumentCount()) > 0)
      missing.push(...lacking.map((index) => refusal(name, index)));
  }
  if (missing.length > 0) throw missingError(missing);
}
