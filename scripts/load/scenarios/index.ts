import type { Scenario } from '../scenario.js';
import { announce } from './announce.js';
import { chat } from './chat.js';
import { cluster } from './cluster.js';
import { database } from './database.js';
import { deploy } from './deploy.js';
import { fanout } from './fanout.js';
import { http } from './http.js';
import { idle } from './idle.js';
import { jitter } from './jitter.js';
import { overload } from './overload.js';
import { silence } from './silence.js';
import { soak } from './soak.js';
import { storm } from './storm.js';

const scenarios: Scenario[] = [
  fanout,
  chat,
  announce,
  idle,
  http,
  cluster,
  storm,
  jitter,
  deploy,
  silence,
  overload,
  soak,
  database,
];

export const scenarioNames = scenarios.map(({ name }) => name);

/** The scenarios of a name, or the fault of the name. */
export function findScenarios(name: string, remote: boolean): Scenario[] | string {
  const found = name === 'all' ? scenarios : scenarios.filter((scenario) => scenario.name === name);
  if (found.length === 0) return `there is no scenario ${name}`;
  const usable = remote ? found.filter(({ isRemote }) => isRemote) : found;
  return usable.length > 0 ? usable : `${name} cannot be run on an existing installation`;
}
