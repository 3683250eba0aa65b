import { expect } from 'chai';
import { type Counts, noCounts } from '../../../scripts/load/clients/counts.js';
import type { WorkerPool } from '../../../scripts/load/clients/worker-pool.js';
import { createLatencies, encode, merge, percentiles, record } from '../../../scripts/load/latency.js';
import { figuresOf, measureFlow, type Usage } from '../../../scripts/load/measure.js';
import { type LoadOptions, optionSchema } from '../../../scripts/load/options.js';
import { cpuMicros, privateBytes, processTree } from '../../../scripts/load/process-figures.js';
import { addStages, stageFigures, stagesBetween } from '../../../scripts/load/stages.js';
import { findStamp, nowMicros, STAMP_LENGTH, stampedAt, stampedText } from '../../../scripts/load/stamp.js';
import { median, summarise } from '../../../scripts/load/statistics.js';
import { nextTurn } from '../../support/eventually.js';

describe('load tests: figures', () => {
  it('summarise odd and even numbers of runs', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 2, 3])).to.equal(2.5);
    expect(summarise([3, 1, 2])).to.deep.equal({ median: 2, min: 1, max: 3, runs: [3, 1, 2] });
  });

  it('merge the latencies of several processes, in ms', () => {
    const encoded = [1_000, 3_000].map((micros) => {
      const latencies = createLatencies();
      for (let i = 0; i < 50; i += 1) record(latencies, micros);
      return encode(latencies);
    });
    const { p50, p99 } = percentiles(merge(encoded));
    expect(p50).to.be.closeTo(1, 0.01);
    expect(p99).to.be.closeTo(3, 0.01);
    expect(percentiles(createLatencies())).to.deep.equal({});
  });

  it('are of the stages of all turns, quantiles evenly spread within their buckets', () => {
    const before = { 'queue 0.001': 1, 'queue 0.002': 1, 'queue +Inf': 1, queue: 0.001 };
    const after = {
      'queue 0.001': 2,
      'queue 0.002': 5,
      'queue +Inf': 5,
      queue: 0.005,
      insert: 0,
      'insert +Inf': 0,
    };
    const turn = stagesBetween(before, after);
    const [queue, ...others] = stageFigures(addStages([turn, turn]));
    expect(others, 'without messages').to.deep.equal([]);
    expect(queue).to.deep.include({ stage: 'queue', messages: 8, share: 100 });
    expect(queue?.buckets).to.deep.equal([
      [1, 2],
      [2, 8],
    ]);
    expect(queue?.mean).to.be.closeTo(1, 1e-9);
    expect(queue?.p50).to.be.closeTo(1 + 2 / 6, 1e-9);
    const endless = stageFigures({ 'write 0.01': 1, 'write +Inf': 9, write: 3 });
    expect(endless[0]?.p99, 'beyond the last bucket').to.equal(10);
  });

  /** A pool without connections. @param sent what a flow adds to the counts */
  function poolOf(sent: Partial<Counts>, settle: WorkerPool['settle'] = async () => {}): WorkerPool {
    let counts = noCounts();
    return {
      pids: [],
      async flow() {
        for (const [key, count] of Object.entries(sent)) counts[key as keyof Counts] += count;
      },
      settle,
      async read() {
        return {
          ...counts,
          deliveryTimes: createLatencies(),
          ackTimes: createLatencies(),
          late: createLatencies(),
        };
      },
      async reset() {
        counts = noCounts();
      },
    } as unknown as WorkerPool;
  }

  const measurePool = (pool: WorkerPool) =>
    measureFlow({ seconds: 1 } as LoadOptions, { pids: [] } as never, pool, {
      ...{ warmUpSeconds: 1, deliveriesPerMessage: 1, length: 1 },
    });

  it('tell how many connections the server closed, those of the warm-up included', async () => {
    const { figures } = await measurePool(poolOf({ sent: 1, closed: 2 }));
    expect(figures).to.include({ lost: 1, note: 'the server closed 4 connections: are its rate limits on?' });
  });

  it('are of no message if every one was refused', async () => {
    const failure = await measurePool(poolOf({ sent: 3, refused: 3 })).catch((error) => error);
    expect(failure).to.be.an('error').with.property('message', 'every message was refused');
  });

  // A single delivery that was lost made 8 s 13, and everything per second less.
  it('end with the last delivery, not with the wait for what never comes', async () => {
    const started = performance.now();
    let lastArrival = 0;
    const pool = poolOf({ sent: 2, delivered: 1 }, async (_, onArrival) => {
      onArrival?.();
      lastArrival = performance.now();
      while (performance.now() - lastArrival < 5) await nextTurn();
    });
    const { usage, figures } = await measurePool(pool);
    expect(usage.seconds * 1_000).to.be.at.most(lastArrival - started);
    expect(figures.lost).to.equal(1);
  });

  it('have no cost of each delivery if there was none', () => {
    const usage = {
      cpus: [5],
      databaseCpu: 5,
      seconds: 1,
      clients: 0,
      others: 0,
      steal: 0,
    } as unknown as Usage;
    expect(figuresOf(usage, 10)).to.include({ cpu: 0.5, databaseCpu: 0.5 });
    expect(figuresOf(usage, 0)).to.include({ cpu: undefined, databaseCpu: undefined });
  });

  it('record what is out of range as the nearest recordable time', () => {
    const latencies = createLatencies();
    record(latencies, 1e12);
    record(latencies, -5);
    expect(latencies.totalCount).to.equal(2);
  });

  it('find and read a stamp at any position', () => {
    const before = Math.round(nowMicros());
    const text = stampedText(60);
    expect(text).to.have.length(60);
    const bytes = Buffer.from(`42["message",{"content":"${text}"}]`);
    for (const hint of [0, 5, bytes.indexOf('@T')]) {
      const at = findStamp(bytes, 0, bytes.length, hint);
      expect(at).to.equal(bytes.indexOf('@T'));
      expect(stampedAt(bytes, at)).to.be.within(before, Math.round(nowMicros()));
    }
    expect(findStamp(Buffer.alloc(STAMP_LENGTH), 0, STAMP_LENGTH, 0)).to.equal(-1);
  });

  it('stamp when a text was due, not when it is sent', () => {
    const dueAt = Math.round(nowMicros()) - 50_000;
    const bytes = Buffer.from(stampedText(60, dueAt));
    expect(stampedAt(bytes, findStamp(bytes, 0, bytes.length, 0))).to.equal(dueAt);
  });

  it('take times from the clock that all processes share', () => {
    const micros = () => Number(process.hrtime.bigint()) / 1e3;
    const [before, now, after] = [micros(), nowMicros(), micros()];
    expect(now).to.be.within(before, after);
  });

  it('read CPU, memory and descendants of a process from the kernel', () => {
    const before = cpuMicros(process.pid);
    const start = process.cpuUsage();
    while (process.cpuUsage(start).user < 10_000);
    expect(cpuMicros(process.pid) - before).to.be.greaterThan(5_000);
    expect(privateBytes(process.pid)).to.be.greaterThan(1_000_000);
    expect(processTree(process.ppid)).to.include(process.pid);
  });

  it('refuse invalid options', () => {
    expect(optionSchema.parse({})).to.include({ seconds: 8, clients: 2 });
    expect(optionSchema.safeParse({ runs: '0' }).success).to.equal(false);
    expect(optionSchema.safeParse({ rate: 'fast' }).success).to.equal(false);
    expect(optionSchema.safeParse({ http: 'http://127.0.0.1:1' }).success).to.equal(false);
  });
});
