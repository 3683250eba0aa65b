import { expect } from 'chai';

/**
 * The fields of a documented body, each with its type, as the tables of interface.md list them. Where
 * the interface says more than the JSON type, the name here says it.
 */
export type Shape =
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'epoch milliseconds'
  | 'local date-time'
  | 'six numbers'
  | { [field: string]: Shape }
  | [Shape];

/** ISO 8601 local date-time without zone offset, with fractional seconds. */
const LOCAL_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}$/;

const leaves: Record<Extract<Shape, string>, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  'epoch milliseconds': (value) => Number.isSafeInteger(value) && (value as number) > 1_600_000_000_000,
  'local date-time': (value) => typeof value === 'string' && LOCAL_DATE_TIME.test(value),
  'six numbers': (value) => Array.isArray(value) && value.length === 6 && value.every(Number.isSafeInteger),
};

/** Fails unless a value has exactly these fields, of these types; an array must hold something to check. */
export function expectShape(value: unknown, shape: Shape, path = 'body'): void {
  if (typeof shape === 'string') {
    expect(leaves[shape](value), `${path}: ${JSON.stringify(value)} is a ${shape}`).to.equal(true);
    return;
  }
  if (Array.isArray(shape)) {
    expect(value, path).to.be.an('array').that.is.not.empty;
    for (const [i, element] of (value as unknown[]).entries())
      expectShape(element, shape[0], `${path}[${i}]`);
    return;
  }
  expect(value, path).to.be.an('object');
  expect(Object.keys(value as object), `fields of ${path}`).to.have.members(Object.keys(shape));
  for (const [field, inner] of Object.entries(shape)) {
    expectShape((value as Record<string, unknown>)[field], inner, `${path}.${field}`);
  }
}
