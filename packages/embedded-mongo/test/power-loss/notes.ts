/** What the writer asks for and notes, and what must be stored then. */

export const WRITERS = 3;

export interface Row {
  _id: string;
  writer?: number;
  n?: number;
  unique: string;
  body?: string;
}

/** A text that belongs to the id alone: within a page, or over several. */
export const bodyOf = (id: string): string =>
  id.repeat(10 + ((id.length * 131 + Number(id.split('-')[1]) * 977) % 1_500));

/** What the notes up to a moment say. */
export class Notes {
  /** Rows whose insertion is acknowledged, and whose removal was not asked for. */
  readonly present = new Set<string>();
  /** Rows whose insertion or removal was asked for and not acknowledged. */
  readonly unsure = new Set<string>();
  /** By writer: how often its counter was raised, and how often that was acknowledged. */
  readonly asked = new Map<number, number>();
  readonly counted = new Map<number, number>();

  add(line: string): void {
    const [kind, what, id = ''] = line.split(' ');
    if (what === 'count') {
      const counts = kind === 'ask' ? this.asked : this.counted;
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
    } else if (kind === 'ask') {
      this.present.delete(id);
      this.unsure.add(id);
    } else {
      this.unsure.delete(id);
      if (what === 'insert') this.present.add(id);
    }
  }

  /** What these rows lack or have too much. */
  faults(stored: Row[]): string[] {
    const ids = new Set(stored.map(({ _id }) => _id));
    const faults = [...this.present].filter((id) => !ids.has(id)).map((id) => `acknowledged ${id} is lost`);
    for (const { _id, body } of stored) {
      if (_id.startsWith('counter')) continue;
      if (!this.present.has(_id) && !this.unsure.has(_id)) faults.push(`${_id} is there, though removed`);
      if (body !== bodyOf(_id)) faults.push(`${_id} is not whole`);
    }
    for (let writer = 0; writer < WRITERS; writer += 1) {
      const n = stored.find(({ _id }) => _id === `counter-${writer}`)?.n ?? 0;
      const [least, most] = [this.counted.get(writer) ?? 0, this.asked.get(writer) ?? 0];
      if (n < least || n > most) faults.push(`counter ${writer} is ${n}, not from ${least} to ${most}`);
    }
    return faults;
  }
}
