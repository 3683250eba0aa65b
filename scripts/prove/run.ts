import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../command/progress.js';
import type { Device } from './clients/device.js';
import type { Community } from './community.js';
import { recordCounts } from './counts.js';
import type { FaultKind } from './faults/kinds.js';
import { killLast } from './faults/last-kill.js';
import { runFaults } from './faults/run-faults.js';
import { readEverything } from './final-reads.js';
import type { HistoryFile } from './history-file.js';
import type { LiveJudge } from './live-judge.js';
import type { OwnInstallation } from './own-installation.js';
import type { Served } from './served.js';
import { openDevices, randomFor, runDevices } from './workload.js';

/**
 * Time, ms, until everything has arrived: lost pushes do within 10 s; after a fault, presence ends within 30 s, and what
 * a crash interrupted is finished by a sweep, every 30 s.
 */
const QUIET_MS = 12_000;
const QUIET_AFTER_FAULTS_MS = 36_000;

/** Longest time of a fault, ms, in a run of a minute; shorter ones have shorter faults. */
const FAULT_MS = 6_000;
const LEAST_FAULT_MS = 2_000;

/**
 * How long the traffic goes on when its time and its faults are over, and clients have not reached everything: so many times its time
 * at most, but so long, ms, in an installation that the run has started.
 */
const TIMES_LONGER = 2;
const OWN_LONGER_MS = 60_000;

/** A process that is frozen for longer loses its presence, ms; only in runs of a minute and more. */
const PAST_LEASE_MS = 33_000;

/** An installation, and what a run does with it. */
export interface Run {
  history: HistoryFile;
  /** Judges the history so far. */
  judge: LiveJudge;
  community: Community;
  servers: Served[];
  /** What faults strike; undefined if it was not started by the run. */
  own: OwnInstallation | undefined;
  seed: number;
  seconds: number;
  faults: FaultKind[];
  progress: Progress;
  /** Ends the traffic early. */
  signal: AbortSignal;
}

/** ms of traffic, of waiting and, roughly, of reading, for the progress bar. */
export function durationOf({ seconds, faults }: Pick<Run, 'seconds' | 'faults'>): number {
  return seconds * 1_000 + (faults.length > 0 ? QUIET_AFTER_FAULTS_MS : QUIET_MS);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Waits, and shows it. @param isOver whether to wait no longer */
async function wait({ progress, signal }: Run, ms: number, isOver = () => false): Promise<void> {
  const until = performance.now() + ms;
  for (let left = ms; left > 0 && !signal.aborted && !isOver(); left = until - performance.now()) {
    const step = Math.min(left, 250);
    await sleep(step);
    progress.advance(step);
  }
}

function faultLengths(seconds: number): { longestMs: number; freezeMs: number } {
  const share = Math.min(1, seconds / 60);
  const longestMs = Math.max(LEAST_FAULT_MS, FAULT_MS * share);
  return { longestMs, freezeMs: seconds >= 60 ? PAST_LEASE_MS : longestMs };
}

/**
 * Members use the service while faults strike, until the time is over, each fault has struck, and clients have reached everything
 * that they can, or it takes too long.
 */
async function traffic(run: Run, devices: Device[]): Promise<void> {
  const { history, own, faults, seed, seconds, judge, signal } = run;
  let isTimeOver = false;
  let areFaultsOver = faults.length === 0;
  let isBroken = false;
  /** When it ends at the latest; unknown while its time or a fault lasts. */
  let until = Number.POSITIVE_INFINITY;
  history.write({ e: 'phase', phase: 'traffic' });
  const longerMs = Math.max(own ? OWN_LONGER_MS : 0, seconds * 1_000 * TIMES_LONGER);
  const lacking = () => judge.lacking();
  const note = () => {
    if (isTimeOver && areFaultsOver) until = performance.now() + longerMs;
  };
  const isReached = () => lacking().length === 0 || performance.now() > until;
  const isOver = () => signal.aborted || isBroken || (isTimeOver && areFaultsOver && isReached());
  const striking = async () => {
    if (!own) return;
    const struck = { history, own, devices, ...faultLengths(seconds) };
    const randomOf = (lane: string) => randomFor(seed, `faults of ${lane}`);
    const isEnded = () => isBroken || signal.aborted;
    const hasMet = (kind: FaultKind) => isEnded() || judge.hasMet(kind);
    await runFaults(faults, struck, randomOf, () => isTimeOver || isEnded(), hasMet);
    areFaultsOver = true;
    note();
  };
  const waiting = async () => {
    await wait(run, seconds * 1_000, () => isBroken);
    isTimeOver = true;
    note();
  };
  const struck = striking().catch((error) => {
    isBroken = true;
    throw error;
  });
  await Promise.all([runDevices(devices, isOver, lacking), struck, waiting()]);
}

async function runPhases(run: Run, devices: Device[]): Promise<void> {
  const { history, community, servers, own, seed, seconds, faults, signal } = run;
  await traffic(run, devices);
  if (signal.aborted) return;
  const struck = own && { history, own, devices, ...faultLengths(seconds) };
  const below = randomFor(seed, 'the last fault');
  const away =
    struck && faults.includes('kill')
      ? await killLast({ ...struck, below, isFirst: false, isCalm: false })
      : [];
  if (signal.aborted) return;
  history.write({ e: 'phase', phase: 'quiet' });
  await wait(run, faults.length > 0 ? QUIET_AFTER_FAULTS_MS : QUIET_MS);
  if (signal.aborted) return;
  history.write({ e: 'phase', phase: 'final' });
  await readEverything(history, community, servers, away, signal);
  // Elsewhere they count what was before the run, too, and only in the process that answers.
  if (own) for (const served of servers) await recordCounts(history, served);
  history.write({ e: 'phase', phase: 'end' });
}

/**
 * Runs the members' traffic, waits until everything has arrived, and reads everything through every door.
 * @throws Error if a process does not come back, the one of the proxies exits, or something cannot be read in the end
 */
export async function runProof(run: Run): Promise<void> {
  const { history, community, servers, own, seed, signal } = run;
  const devices = openDevices(history, community, servers, seed, own !== undefined);
  const close = async () => void (await Promise.all(devices.map((device) => device.close())));
  signal.addEventListener('abort', close);
  const done = runPhases(run, devices).finally(close);
  // What is under way at an installation of the run's own ends with it. Elsewhere it is waited for: nothing may be
  // written there after the removal.
  await (own ? Promise.race([done, aborted(signal), own.failure]) : done);
}
