import { CommandError, errorReply } from '../values/errors.js';
import type { Reply, Request } from '../wire/messages.js';
import { aggregateCommands } from './aggregate-command.js';
import { catalogCommands } from './catalog-commands.js';
import { type CommandHandler, refuseUnserved } from './command.js';
import type { Engine } from './engine.js';
import { explainCommands } from './explain-command.js';
import { refuseUnknownFields } from './known-fields.js';
import { readCommands } from './read-commands.js';
import { sessionCommands } from './session-commands.js';
import { parseTimeLimit } from './time-limit.js';
import { writeCommands } from './write-commands.js';

/** Every command that is served or refused by name; a Map, so that no name reaches a prototype. */
const COMMANDS: ReadonlyMap<string, CommandHandler> = new Map(
  Object.entries({
    ...sessionCommands,
    ...readCommands,
    ...writeCommands,
    ...catalogCommands,
    ...aggregateCommands,
    ...explainCommands,
  }),
);

/** Runs a request's command. Never throws: every failure is a reply with mongod's error code. */
export async function dispatch(engine: Engine, request: Request, connectionId: number): Promise<Reply> {
  const { command, database, sequences } = request;
  try {
    const [name] = Object.keys(command);
    const handler = name === undefined ? undefined : COMMANDS.get(name);
    if (!handler) throw new CommandError(59, `no such command: '${name ?? ''}'`);
    refuseUnserved(command);
    refuseUnknownFields(name as string, command);
    const limit = parseTimeLimit(command.maxTimeMS);
    return await handler({ engine, database, command, sequences, connectionId, limit });
  } catch (error) {
    return errorReply(error);
  }
}
