/** The instant of a local date-time, ms as if it were UTC: where an offset is known, rules subtract it. */

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\d*$/;

/** Of `2022-08-01T12:34:56.123456`. */
const ofText = (value: unknown): number =>
  typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(`${value.slice(0, 23)}Z`) : Number.NaN;

/** Of `[2022, 8, 1, 12, 34, 56]`. */
function ofNumbers(value: unknown): number {
  if (!Array.isArray(value) || value.length !== 6 || !value.every(Number.isInteger)) return Number.NaN;
  const [year, month, ...others] = value as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, ...others);
}

/** Takes one out of a record; if it is none, it is 0 and stays in the rest. @param rest is changed */
export function takeLocalTime(
  rest: Record<string, unknown>,
  field: string,
  form: 'text' | 'numbers',
): number {
  const ms = form === 'text' ? ofText(rest[field]) : ofNumbers(rest[field]);
  if (Number.isNaN(ms)) {
    rest[field] ??= 'missing';
    return 0;
  }
  delete rest[field];
  return ms;
}
