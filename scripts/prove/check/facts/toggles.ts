import type { Fail, Info } from '../../history.js';

/** What one member may set and remove, such as a bookmark. */
export interface Toggle {
  /** undefined: nobody can tell. */
  isOn: boolean | undefined;
  /** Since when `isOn` is certain, ms. */
  since: number;
  /** Requests under way. */
  open: number;
  /** Whether several were under way at the same time: which was the later one, nobody can tell. */
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
    const off: Toggle = { isOn: false, since, open: 0, areMixed: false, isUncertain: false };
    const toggle = toggles.get(member) ?? off;
    toggles.set(member, toggle);
    return toggle;
  }

  asked(toggle: Toggle): void {
    toggle.open += 1;
    toggle.areMixed = toggle.open > 1;
  }

  /** @param isSetting whether it was asked to be set, else to be removed. @returns whether it was so before */
  answered(toggle: Toggle, isSetting: boolean, t: number): boolean {
    const wasSo = !toggle.areMixed && toggle.isOn === isSetting;
    settle(toggle, isSetting, t);
    return wasSo;
  }

  /** @returns whether it is refused as already set, and was not */
  unanswered(toggle: Toggle, outcome: Fail | Info): boolean {
    const { isOn, areMixed } = toggle;
    if (outcome.e === 'info') {
      toggle.isUncertain = true;
      settle(toggle, undefined, outcome.t);
      return false;
    }
    const known = KNOWN_BY.get(outcome.code);
    settle(toggle, known ?? isOn, outcome.t);
    // A proxy may repeat a removal whose first answer it has lost: "not found" of one that is set shows nothing.
    return known === true && isOn === false && !areMixed;
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
