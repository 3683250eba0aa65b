import { encodeResults, parsePipeline, runPipeline } from '../aggregate/pipeline.js';
import { isDocument } from '../values/bson-types.js';
import { failedToParse, notServed } from '../values/errors.js';
import { type CommandHandler, collectionName, readerOf } from './command.js';
import { cursorBatchSize, cursorReply, hintOf } from './read-commands.js';

const aggregate: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const pipeline = parsePipeline(command.pipeline);
  pipeline.query.hint = hintOf(command);
  if (command.explain !== undefined && command.explain !== false)
    throw notServed("the aggregate option 'explain' (explain is a command of its own)");
  if (typeof command.aggregate !== 'string') throw notServed('an aggregation without a collection');
  const name = collectionName(call);
  if (!isDocument(command.cursor))
    throw failedToParse("The 'cursor' option is required, except for aggregate with the explain argument");
  const results = runPipeline(engine.catalog.find(database, name), pipeline, {
    reader: readerOf(call),
    collection: (other) => engine.catalog.find(database, other),
  });
  return cursorReply(call, `${database}.${name}`, encodeResults(results), cursorBatchSize(call));
};

export const aggregateCommands: Record<string, CommandHandler> = { aggregate };
