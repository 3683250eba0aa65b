import type { CountedName } from '../check/facts/coverage.js';
import { articleChoices } from './article-actions.js';
import { chatChoices } from './chat-actions.js';
import { communityChoices, listComments } from './community-actions.js';
import type { Device, Kind } from './device.js';
import { intrude } from './intrude.js';
import { listNotifications, noticeChoices } from './notice-actions.js';

/** What a client may do. It takes its choices from the client's random numbers. */
export type Action = (device: Device) => unknown;

/** An action of the table by which clients choose. */
export interface Choice {
  act: Action;
  /** How often, in about 100 turns, clients of each kind do it by chance; those without a number never do. */
  weights: Partial<Record<Kind, number>>;
  /** What of the demands of a verdict it is for. */
  reaches: readonly CountedName[];
}

/** Tries what is not the member's. */
const intrusions: Choice = {
  act: (device) =>
    intrude(device, async () => {
      await listComments(device);
      await listNotifications(device);
    }),
  weights: { socket: 2, rest: 2, legacy: 2 },
  reaches: ['intrusionsTried'],
};

const choices: readonly Choice[] = [
  ...chatChoices,
  ...articleChoices,
  ...communityChoices,
  ...noticeChoices,
  intrusions,
];

/** One by its weight. */
function byWeight(device: Device): Action | undefined {
  const weightOf = ({ weights }: Choice) => weights[device.kind] ?? 0;
  let chosen = device.choose(choices.reduce((sum, one) => sum + weightOf(one), 0));
  for (const one of choices) {
    chosen -= weightOf(one);
    if (chosen < 0) return one.act;
  }
  return undefined;
}

/**
 * Does one thing that clients of this kind do.
 * @param lacking what the run has not reached yet: every other time, something of what reaches it
 */
export async function act(device: Device, lacking: ReadonlySet<CountedName>): Promise<void> {
  const useful = choices.filter(
    ({ weights, reaches }) => weights[device.kind] !== undefined && reaches.some((what) => lacking.has(what)),
  );
  const wanted = device.choose(2) === 0 ? device.pick(useful)?.act : undefined;
  await (wanted ?? byWeight(device))?.(device);
}
