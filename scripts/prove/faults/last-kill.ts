import type { Account } from '../../run-accounts/accounts.js';
import type { Device } from '../clients/device.js';
import { kill, type Struck } from './strike.js';

/** Members who stay away at most: the others are still to be compared at the end. */
const AWAY = 2;

/** Members without another socket, by the gateway that serves them. */
function alone(devices: Device[]): Map<string, Device[]> {
  const socketsOf = (account: Account) => devices.filter((one) => one.app && one.account === account).length;
  const byGateway = new Map<string, Device[]>();
  for (const device of devices) {
    const process = device.app?.door?.process;
    if (process === undefined || socketsOf(device.account) > 1) continue;
    byGateway.set(process, [...(byGateway.get(process) ?? []), device]);
  }
  return byGateway;
}

/** Some who share no room: the other party of each is there to see who is absent. */
function apart(devices: Device[]): Device[] {
  const chosen: Device[] = [];
  for (const device of devices) {
    const isShared = ({ room }: { room: number }) =>
      chosen.some(({ rooms }) => rooms.some((other) => other.room === room));
    if (chosen.length < AWAY && !device.rooms.some(isShared)) chosen.push(device);
  }
  return chosen;
}

/**
 * The last strike of a run: a gateway is killed with members in rooms whose clients do not come back, when nothing else can
 * end their presence any more, as Redis without its data does.
 * @returns who is away
 */
export async function killLast(struck: Struck): Promise<Account[]> {
  const [most] = [...alone(struck.devices)].sort(([, one], [, other]) => other.length - one.length);
  const service = struck.own.services.find(({ name }) => name === most?.[0]);
  if (!most || !service) return [];
  const away = apart(most[1]);
  for (const { app, rooms } of away) {
    for (const { room } of rooms) await app?.enter(room);
    app?.stayAway();
  }
  await kill(struck, service);
  return away.map(({ account }) => account);
}
