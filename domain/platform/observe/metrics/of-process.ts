import { Counter, Gauge } from 'prom-client';
import { oldSpaceShare } from '../../process/heap.js';
import { SampledGauge } from './sampled-gauge.js';

let probe = (): Promise<unknown> => Promise.reject(new Error('not open'));

/** @param isReady rejects while the process cannot serve */
export function showReadiness(isReady: () => Promise<unknown>): void {
  probe = isReady;
}

/** After this time a process counts as not ready, ms: the other metrics must not wait for a backend. */
const PROBE_MS = 500;

/** What every process has. */
export const processMetrics = {
  build: new Gauge({
    name: 'adoption_build_info',
    help: 'Always 1: `version` of the package, `commit` (`unknown` without a Git folder), version of Node, `engine` of the sockets (`none` in a process without)',
    labelNames: ['version', 'commit', 'node', 'engine'],
    aggregator: 'first',
  }),
  ready: new Gauge({
    name: 'adoption_process_ready',
    help: '1 while `/readyz` answers 200 within half a second; else 0',
    aggregator: 'min',
    async collect() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => {
        timer = setTimeout(() => resolve(0), PROBE_MS);
      });
      const ready = probe().then(
        () => 1,
        () => 0,
      );
      this.set(await Promise.race([ready, late]));
      clearTimeout(timer);
    },
  }),
  eventLoopActive: new Counter({
    name: 'adoption_event_loop_active_seconds_total',
    help: 'Time in which the event loop worked instead of waiting: its rate is the share of a core; above 0.7 add processes',
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1_000);
    },
  }),
  heapUsed: new Gauge({
    name: 'adoption_heap_used_ratio',
    help: 'Used share of the heap, new objects left out; from 0.9 on the process refuses all work',
    aggregator: 'max',
    collect() {
      this.set(oldSpaceShare());
    },
  }),
  workAccepted: new Gauge({
    name: 'adoption_work_accepted_ratio',
    help: 'Share of new requests and events that is taken on: below 1 the process is overloaded, 0 its heap is full',
    aggregator: 'min',
  }),
  workRefused: new Counter({
    name: 'adoption_work_refused_total',
    help: 'Work that an overloaded process refused: `request`, `connect`, `event`',
    labelNames: ['work'],
  }),
  limitHits: new Counter({
    name: 'adoption_limit_hits_total',
    help: 'What a limit refused: of rate (`address`, `bytes`, `others`, `read`, `list`, `write`, `search`, `message`, `socketEvent`), of searches at once (`searches`), of a day (`rooms-per-day`, `messages-per-day`, `articles-per-day`, `comments-per-day`), of connects (`handshakes`, `unadmitted`, `connections`, `frames`), and connections for lack of files (`files`); a rise is an attack, many members behind one address, or a limit that is too low',
    labelNames: ['limit'],
  }),
  queueLength: new SampledGauge({
    name: 'adoption_queue_length',
    help: 'What waits: messages to be stored (`ledger`), or whose recipients are to be notified (`notify`), notifications to be stored (`notifications`), pushes held until those before them are there (`pushes`), joins and leaves of sockets (`joins`), searches (`searches`), operations that the database has not answered (`database`), messages that Redis has not taken (`publish`)',
    labelNames: ['queue'],
  }),
  unreadBytes: new SampledGauge({
    name: 'adoption_unread_bytes',
    help: 'Bytes that clients have not read yet: of sockets (`sockets`), event streams (`streams`), answers and the requests behind them (`answers`); a rise means slow readers',
    labelNames: ['channel'],
  }),
  driftMended: new Counter({
    name: 'adoption_drift_mended_total',
    help: 'What differed from its records when a sweep looked, and was mended: stored counts (`article-hearts`, `comment-hearts`, `article-comments`, `comment-state`), records of deleted articles (`article-deletion`), and rooms with a write of unknown outcome (`room`); rises after a crash or an outage only',
    labelNames: ['what'],
  }),
  verifyDrift: new Counter({
    name: 'adoption_verify_drift_total',
    help: 'Stored values that a pass of `VERIFY_EVERY` found to differ from their records, by what is wrong; a difference that stays counts in each pass',
    labelNames: ['kind'],
  }),
  verifyDifferences: new Gauge({
    name: 'adoption_verify_differences',
    help: 'Differences that the last complete pass of `VERIFY_EVERY` found, whichever process ran it',
    aggregator: 'max',
  }),
  verifyCompleted: new Gauge({
    name: 'adoption_verify_completed_timestamp_seconds',
    help: 'When the last complete pass of `VERIFY_EVERY` ended, in seconds since 1970; 0 before the first, and without one',
    aggregator: 'max',
  }),
  verifyLate: new SampledGauge({
    name: 'adoption_verify_late_timestamp_seconds',
    help: 'From when on it is a fault that no complete pass of `VERIFY_EVERY` ended, in seconds since 1970: three intervals, and at least a day, after the last one or the beginning of the first; absent without `VERIFY_EVERY`',
    aggregator: 'max',
  }),
  keySetFailures: new Counter({
    name: 'adoption_key_set_failures_total',
    help: 'Fetches of JWKS_URL that failed: while it rises, new keys are unknown and withdrawn ones stay valid; the log says once why',
  }),
  unexpectedErrors: new Counter({
    name: 'adoption_unexpected_errors_total',
    help: 'Answers of status 500, failed callbacks of connections (which are closed), unhandled rejections and uncaught exceptions: each is a bug, its log line has the stack',
  }),
};
