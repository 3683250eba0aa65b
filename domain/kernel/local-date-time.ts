const MINUTE_MS = 60_000;

/**
 * Formats instants as local date-times of a zone.
 *
 * The zone's offset is read from Intl once per quarter of an hour (offsets change at no finer step) and
 * cached: formatting by Intl costs more than reading the record.
 *
 * @param timeZone IANA name such as `Asia/Seoul`
 * @throws RangeError for an unknown zone
 */
export function createLocalDateTime(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const offsets = new Map<number, number>();

  function offsetMs(epochMs: number): number {
    const quarter = Math.floor(epochMs / (15 * MINUTE_MS));
    const known = offsets.get(quarter);
    if (known !== undefined) return known;
    const instant = quarter * 15 * MINUTE_MS;
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - instant;
    if (offsets.size >= 10_000) offsets.clear();
    offsets.set(quarter, offset);
    return offset;
  }

  return {
    /** `2022-08-01T12:34:56.123456`: ISO 8601 without offset, six fraction digits. */
    text: (epochMs: number): string =>
      `${new Date(epochMs + offsetMs(epochMs)).toISOString().slice(0, -1)}000`,
    /** `[2022, 8, 1, 12, 34, 56]`: year, month (1-12), day, hour, minute, second. */
    numbers: (epochMs: number): [number, number, number, number, number, number] => {
      const local = new Date(epochMs + offsetMs(epochMs));
      return [
        local.getUTCFullYear(),
        local.getUTCMonth() + 1,
        local.getUTCDate(),
        local.getUTCHours(),
        local.getUTCMinutes(),
        local.getUTCSeconds(),
      ];
    },
  };
}

export type LocalDateTime = ReturnType<typeof createLocalDateTime>;
