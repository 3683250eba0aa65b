import { isDocument } from '../bson-types.js';
import { failedToParse, notServed } from '../errors.js';
import { encodeResults, type PipelineContext, runPipeline } from '../pipeline.js';
import { parsePipeline } from '../pipeline-stages.js';
import { type CommandCall, type CommandHandler, collectionName } from './command.js';
import { cursorReply, hintOf } from './read-commands.js';

/** The context of a pipeline run by a command. */
function pipelineContext(call: CommandCall): PipelineContext {
  return {
    reader: call.engine.storage,
    collection: (name) => call.engine.catalog.find(call.database, name),
    variables: {},
  };
}

const aggregate: CommandHandler = (call) => {
  const { engine, database, command } = call;
  const stages = parsePipeline(command.pipeline);
  if (typeof command.aggregate !== 'string') throw notServed('an aggregation without a collection');
  const name = collectionName(call);
  if (!isDocument(command.cursor))
    throw failedToParse("The 'cursor' option is required, except for aggregate with the explain argument");
  const results = runPipeline(
    engine.catalog.find(database, name),
    stages,
    pipelineContext(call),
    hintOf(command),
  );
  return cursorReply(call, `${database}.${name}`, encodeResults(results), command.cursor.batchSize);
};

export const aggregateCommands: Record<string, CommandHandler> = { aggregate };
