import { withinTime } from '../query/time-limit.js';
import { CommandError, errorReply } from '../values/errors.js';
import { catalogCommands } from './catalog-commands.js';
import { type Command, type CommandCall, countOption, type Reply, refuseUnserved } from './command.js';
import { readCommands } from './read-commands.js';
import { serverCommands } from './server-commands.js';
import { writeCommands } from './write-commands.js';

/** Every supported command; a Map, so that no name reaches a prototype. */
const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({ ...serverCommands, ...readCommands, ...writeCommands, ...catalogCommands }),
);

/** Runs a command. Never throws: every failure is a reply with mongod's error code. */
export async function dispatch(call: CommandCall): Promise<Reply> {
  try {
    const [name = ''] = Object.keys(call.command);
    const found = COMMANDS.get(name);
    if (!found) throw new CommandError(59, `no such command: '${name}'`);
    refuseUnserved(name, found, call.command);
    const limit = countOption(call.command.maxTimeMS, 'maxTimeMS');
    return await withinTime(limit, () => found.run(call));
  } catch (error) {
    return errorReply(error);
  }
}
