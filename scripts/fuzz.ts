import { z } from 'zod';
import { doors } from '../test/hostile/fuzz/doors.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';

const names = doors.map(({ name }) => name);

const usage = `Usage: npm run fuzz [-- --minutes N] [--seed S] [--only NAME]

Sends random input, valid, nearly valid and wild, to all that the service takes from outside: ${names.join(', ')}.
Each must be answered as documented, for at most 200 ms of CPU; no process may end, log an error, or keep handles or memory. The same
runs for some seconds with the other tests. Rounds of all doors follow one another, each on new processes
and with the next seed. bus needs redis-server.

  --minutes N   starts no round after this time (default 1)
  --seed S      seed of the first round (default: random); a seed repeats its round
  --only NAME   one door

Exit status: 0 nothing failed; 1 an input failed: it is printed, as small as it could be made.`;

/** A round of the tests takes seconds, of which a part starts processes: longer ones spend less on that. */
const LONGER = 8;

const optionSchema = z.object({
  minutes: z.coerce.number('must be a number').min(0, 'must be at least 0').default(1),
  seed: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .default(() => Math.floor(Math.random() * 2 ** 31)),
  only: z.enum(names, `must be one of ${names.join(', ')}`).optional(),
});

await runCommand(usage, async (args) => {
  const { values } = readArguments({
    args,
    options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
  });
  const { minutes, seed, only } = checkArguments(optionSchema, values);
  const chosen = doors.filter(({ name }) => only === undefined || name === only);
  const end = performance.now() + minutes * 60_000;
  let round = seed;
  do {
    for (const { name, cases, run } of chosen) {
      const start = performance.now();
      const most = await run(round, cases * LONGER);
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      process.stdout.write(
        `seed ${round}  ${name.padEnd(8)} ${cases * LONGER} inputs in ${seconds} s, CPU of one: ${most} ms at most\n`,
      );
    }
    round += 1;
  } while (performance.now() < end);
  return 0;
});
