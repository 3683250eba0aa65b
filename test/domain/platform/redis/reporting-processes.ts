import { type Report, Reports, type Writes } from '../../../../domain/platform/redis/reports.js';
import { buildRedis } from '../../../support/reports.js';
import { type FakeTime, fakeTime } from '../../../support/time.js';

const NOTHING: Writes = { rooms: [], unsure: [], notifications: [] };

/** Processes that report to each other over a network of their own in each test, in fake time. */
export function useReportingProcesses() {
  let time: FakeTime;
  let network: ReturnType<typeof buildRedis>;
  let open: Reports[];
  let databaseTime: () => number | undefined;
  beforeEach(() => {
    time = fakeTime();
    databaseTime = () => performance.now();
    network = buildRedis();
    open = [];
  });
  afterEach(() => {
    for (const reports of open) reports.close();
    time.restore();
  });

  /** A process that reports what is put into `written`. */
  function start(name: string) {
    const { redis, events } = network.connect(name);
    const reports = new Reports({ redis, name, databaseTime: () => databaseTime() });
    open.push(reports);
    const written: Writes = structuredClone(NOTHING);
    const asked: number[] = [];
    const heard: Report[] = [];
    reports.onReport((report) => heard.push(report));
    reports.start({
      writes(since) {
        asked.push(since);
        return {
          rooms: written.rooms.splice(0),
          unsure: written.unsure.splice(0),
          notifications: written.notifications.splice(0),
        };
      },
      news: () => ({ polledUpTo: 5, unpublished: [[7, 8]] }),
    });
    const startedAt = performance.now();
    return {
      ...{ reports, written, asked, heard, events },
      /** Whether everything since the last call, or the start, was heard. */
      isComplete: (since = startedAt) => reports.completeSince(since),
    };
  }

  /** Passes time, in which a process calls the roll again and again. */
  async function pass(seconds: number, leader?: Reports, names: string[] = []): Promise<void> {
    for (let i = 0; i < seconds; i += 1) {
      leader?.callRoll(names);
      await time.pass(1_000);
    }
  }

  /** Two processes of which the first calls the roll, after two seconds. */
  async function startBoth() {
    const [one, two] = [start('one'), start('two')];
    await pass(2, one.reports, ['one', 'two']);
    const since = performance.now() + 1;
    await pass(1, one.reports, ['one', 'two']);
    return { one, two, since };
  }

  return {
    ...{ start, pass, startBoth },
    get time() {
      return time;
    },
    get network() {
      return network;
    },
    /** @param estimate the database's time as every process estimates it from now on, ms */
    setDatabaseTime(estimate: () => number | undefined) {
      databaseTime = estimate;
    },
  };
}
