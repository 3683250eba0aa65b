import { broadcastColumns, durationOf, measureBroadcasts, scaled } from '../broadcasts.js';
import { storingNchan } from '../programs.js';
import type { Measured, Run, Scenario } from '../scenario.js';
import { bareUws, ours, type Server, socketIoOnWs, socketIoRecovering } from '../start-server.js';

/** Each client is cut this often, and away for a part of it, ms; at the default `--seconds`. */
const CUT_EVERY_MS = 15_000;
const AWAY_MS = 2_000;

/** Time to start a server, to connect, and to wait for what does not come, s. */
const OTHER_SECONDS = 25;

async function measure(server: Server, run: Run): Promise<Measured> {
  const { options } = run;
  const { target, members } = await server.start(run, 1);
  const [every, away] = [scaled(options, CUT_EVERY_MS), scaled(options, AWAY_MS)];
  return measureBroadcasts(run, { targets: [target], members }, (clients) =>
    clients.cut(durationOf(options), every, away),
  );
}

export const jitter: Scenario = {
  name: 'jitter',
  title:
    '120 broadcasts to clients that are cut every 15 s, and away for 2 s (times with the default --seconds): what each ends up with; latency from its first attempt to come back until a message that it missed arrives',
  columns: broadcastColumns,
  heeds: ['members'],
  turnSeconds: (options) => durationOf(options) + OTHER_SECONDS,

  contenders: () =>
    [ours(), socketIoRecovering, socketIoOnWs(), bareUws, storingNchan].map((server) => ({
      ...server,
      measure: (run) => measure(server, run),
    })),

  // Who ends up with less than everything has lost something.
  verdicts: () => [],
};
