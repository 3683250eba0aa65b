import type { Fail, Info } from '../../history.js';
import { at } from '../rule.js';

/** A text that replaces those before it. */
interface Version {
  readonly text: string;
  readonly askedAt: number;
  ackedAt?: number;
  refused?: boolean;
}

/** What something was written as, and changed to: which text a read may show. */
export class Versions {
  readonly #all: Version[] = [];

  ask(text: string, askedAt: number): void {
    this.#all.push({ text, askedAt });
  }

  ack(text: string, t: number): void {
    const version = this.#of(text);
    if (version) version.ackedAt ??= t;
  }

  miss(text: string, { e }: Fail | Info): void {
    const version = this.#of(text);
    if (version && e === 'fail') version.refused = true;
  }

  /** Whether it was never changed. */
  get isOnly(): boolean {
    return this.#all.length === 1;
  }

  #of(text: string): Version | undefined {
    return this.#all.find((one) => one.text === text);
  }

  /** @returns what is wrong with a text that a read shows which began then */
  faultOf(text: string, askedAt: number): string | undefined {
    const version = this.#of(text);
    if (!version) return 'nobody has written it so';
    if (version.refused) return 'this change was refused';
    const { ackedAt } = version;
    if (ackedAt === undefined) return undefined;
    const next = this.#all.find(
      (one) => one.ackedAt !== undefined && one.ackedAt < askedAt && one.askedAt > ackedAt,
    );
    return next && `"${next.text}" had replaced it, acknowledged at ${at(next.ackedAt ?? 0)}`;
  }
}
