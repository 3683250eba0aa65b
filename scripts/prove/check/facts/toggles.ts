import type { Fail, Info } from '../../history.js';

/** What one member may set and remove, such as a bookmark. */
export interface Toggle {
  /** undefined: nobody can tell. */
  isOn: boolean | undefined;
  /** Since when `isOn` is certain, ms. */
  since: number;
  /** Requests under way. */
  open: number;
  /** Of those that were under way at the same time, the last ones: whether they were to set it, and how it was before them. */
  isSetting: boolean;
  before: boolean | undefined;
  /** How many of them succeeded: one at most can. */
  done: number;
  /** Whether some were to set it, and some to remove it: which was the later one, nobody can tell. */
  areMixed: boolean;
  /** Whether the outcome of one is unknown: it may be done at any time. */
  isUncertain: boolean;
}

/** What a refusal says: a second one is a conflict, one that is not there is not found. */
const KNOWN_BY = new Map([
  ['ALREADY_HEARTED', true],
  ['HEART_NOT_FOUND', false],
  ['ALREADY_BOOKMARKED', true],
  ['BOOKMARK_NOT_FOUND', false],
]);

function settle(toggle: Toggle, isOn: boolean | undefined, t: number): void {
  toggle.open -= 1;
  const known = toggle.areMixed || toggle.isUncertain ? undefined : isOn;
  if (known !== toggle.isOn) toggle.since = t;
  toggle.isOn = known;
}

/** What members have set and removed, by what it belongs to and by member, as far as answers tell. */
export class Toggles {
  readonly #all = new Map<string, Map<number, Toggle>>();

  one(key: string, member: number): Toggle {
    const toggles = this.#all.get(key) ?? new Map<number, Toggle>();
    this.#all.set(key, toggles);
    const since = Number.NEGATIVE_INFINITY;
    const off: Toggle = {
      ...{ isOn: false, since, open: 0, isSetting: false, before: false, done: 0 },
      ...{ areMixed: false, isUncertain: false },
    };
    const toggle = toggles.get(member) ?? off;
    toggles.set(member, toggle);
    return toggle;
  }

  /** @param isSetting whether it is asked to be set, else to be removed */
  asked(toggle: Toggle, isSetting: boolean): void {
    if (toggle.open === 0)
      Object.assign(toggle, { isSetting, before: toggle.isOn, done: 0, areMixed: false });
    else if (toggle.isSetting !== isSetting) toggle.areMixed = true;
    toggle.open += 1;
  }

  /** @returns whether it was so before, or by another request at the same time */
  answered(toggle: Toggle, isSetting: boolean, t: number): boolean {
    toggle.done += 1;
    const wasSo = !toggle.areMixed && (toggle.before === isSetting || toggle.done > 1);
    settle(toggle, isSetting, t);
    return wasSo;
  }

  /** @returns whether it is refused as already set, and was not */
  unanswered(toggle: Toggle, outcome: Fail | Info): boolean {
    const { isOn, before, done, open, areMixed, isUncertain } = toggle;
    if (outcome.e === 'info') {
      toggle.isUncertain = true;
      settle(toggle, undefined, outcome.t);
      return false;
    }
    const known = KNOWN_BY.get(outcome.code);
    settle(toggle, known ?? isOn, outcome.t);
    // Another one under way may have set it. A proxy may repeat a removal whose first answer it has lost: "not found" of one that
    // is set shows nothing.
    return known === true && before === false && done === 0 && open === 1 && !areMixed && !isUncertain;
  }

  /**
   * The least and the most that were set at any moment since then.
   * @param own one that has just been answered: the answer counts it
   */
  countSince(key: string, t: number, own?: Toggle): [least: number, most: number] {
    let [least, most] = [0, 0];
    for (const toggle of this.#all.get(key)?.values() ?? []) {
      const isSure = toggle.open === 0 && (toggle.since < t || toggle === own);
      if (isSure && toggle.isOn === true) least += 1;
      if (!isSure || toggle.isOn !== false) most += 1;
    }
    return [least, most];
  }
}
