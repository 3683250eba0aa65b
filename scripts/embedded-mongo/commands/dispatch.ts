import { CommandError, errorReply } from '../values/errors.js';
import type { Reply, Request } from '../wire/messages.js';
import { catalogCommands } from './catalog-commands.js';
import { type Command, refuseUnserved } from './command.js';
import type { Engine } from './engine.js';
import { readCommands } from './read-commands.js';
import { serverCommands } from './server-commands.js';
import { writeCommands } from './write-commands.js';

/** Every supported command; a Map, so that no name reaches a prototype. */
const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({ ...serverCommands, ...readCommands, ...writeCommands, ...catalogCommands }),
);

/** Runs a request's command. Never throws: every failure is a reply with mongod's error code. */
export async function dispatch(engine: Engine, { command, database, sequences }: Request): Promise<Reply> {
  try {
    const [name = ''] = Object.keys(command);
    const found = COMMANDS.get(name);
    if (!found) throw new CommandError(59, `no such command: '${name}'`);
    refuseUnserved(name, found, command);
    return await found.run({ engine, database, command, sequences });
  } catch (error) {
    return errorReply(error);
  }
}
