import { checkAdoption } from '../domain/adoption/index.js';
import { checkChat } from '../domain/chat/index.js';
import { checkCommunity } from '../domain/community/index.js';
import { checkMembers } from '../domain/members/index.js';
import { checkNotifications } from '../domain/notifications/index.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { withDomain } from './command/with-domain.js';
import { verify } from './verify/verify.js';

const usage = `Usage: npm run verify [-- --repair]

Recomputes every stored count, unread count, read position and sequence number from the records and lists
the differences, one line each.

  --repair   repairs them, and builds unique indexes that are missing. Before a repair that renumbers messages or notifications, stop the service:
             it keeps the newest numbers in memory.

Exit status: 0 everything agrees or was repaired; 1 something disagrees.`;

await runCommand(usage, async (args) => {
  const { values } = readArguments({ args, options: { repair: { type: 'boolean', default: false } } });
  const checks = [
    ...checkMembers(),
    ...checkAdoption(),
    ...checkCommunity(),
    ...checkChat(),
    ...checkNotifications(),
  ];
  return withDomain('verify', () => verify(checks, values.repair), values.repair);
});
