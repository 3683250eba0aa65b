import { engineNames } from '../../support/engine.js';
import { bus } from './bus.js';
import { calls } from './calls.js';
import { type Door, runRound } from './door.js';
import { frames } from './frames.js';
import { headers } from './headers.js';
import { importing } from './import.js';
import { transports } from './transports.js';
import { wire } from './wire.js';

const doorOf = <T>(door: Door<T>) => ({
  name: door.name,
  cases: door.cases,
  /** One round: see runRound. */
  run: (seed: number, cases?: number) => runRound(door, seed, cases),
});

/** Everything that random input is sent to. */
export const doors = [
  ...[doorOf(calls), doorOf(frames), doorOf(headers)],
  ...engineNames.map((name) => doorOf(transports(name))),
  ...[doorOf(bus), doorOf(wire), doorOf(importing)],
];
