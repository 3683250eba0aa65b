import { Double, Long } from 'bson';
import fc from 'fast-check';
import type { Doc } from './naive-model.js';

/** Few and colliding values that have an order among each other, so that filters hit and keys repeat. */
const ordered = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(0.5, -1e300, new Double(1), new Double(-0), Long.fromNumber(2), Long.fromNumber(2 ** 40)),
  fc.constantFrom('', 'a', 'ab', 'a\0', 'b', '\u{1f600}', '\uffee'),
  fc.constantFrom(true, false),
  fc.constantFrom(new Date(0), new Date(-1)),
);
const scalar = fc.oneof(
  { weight: 5, arbitrary: ordered },
  { weight: 1, arbitrary: fc.constantFrom(null, Number.NaN) },
);
const inner = fc.record({ x: scalar, y: scalar }, { requiredKeys: [], noNullPrototype: true });
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: inner },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(inner, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
);
/** Arrays stand in `d` alone, which no index has. */
const document = fc.record(
  { a: fc.oneof(scalar, inner), b: scalar, c: fc.oneof(scalar, inner), d: value },
  { requiredKeys: [], noNullPrototype: true },
);

const few = fc.nat(2);
/** Half of the collections hold strange values, half few values many times, so that filters and sorts have work. */
export const documents = fc.oneof(
  fc.array(document, { maxLength: 12 }),
  fc
    .array(fc.record({ a: few, b: few, c: few }, { noNullPrototype: true }), { maxLength: 16 })
    .map((list): Doc[] => list),
);

const path = fc.constantFrom('a', 'b', 'c', 'a.x', 'c.x', 'c.y', 'd', 'd.x', 'd.0', 'b');
const operators = fc.oneof(
  value.map((operand): unknown => operand),
  fc.tuple(fc.constantFrom('$eq', '$ne'), value).map(([operator, operand]) => ({ [operator]: operand })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), ordered)
    .map(([operator, operand]) => ({ [operator]: operand })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte'), ordered, fc.constantFrom('$lt', '$lte'), ordered)
    .map(([low, from, high, to]) => ({ [low]: from, [high]: to })),
  fc
    .tuple(fc.constantFrom('$in', '$nin'), fc.array(scalar, { maxLength: 10 }))
    .map(([operator, operand]) => ({ [operator]: operand })),
  fc.boolean().map((operand) => ({ $exists: operand })),
  fc.constantFrom('^a', '^ab', 'b').map(($regex) => ({ $regex })),
);
const conjunction = fc
  .array(fc.tuple(path, operators), { maxLength: 3 })
  .map((entries): Doc => Object.fromEntries(entries));
/** Several points on several fields of an index. */
const points = fc.record(
  { a: pointsOfField(), b: pointsOfField(), c: pointsOfField() },
  { requiredKeys: [], noNullPrototype: true },
);

function pointsOfField(): fc.Arbitrary<unknown> {
  return fc.oneof(
    few,
    fc.uniqueArray(few, { maxLength: 3 }).map(($in) => ({ $in })),
  );
}

const nested: fc.Arbitrary<Doc> = fc.letrec<{ filter: Doc }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 1, arbitrary: conjunction },
    { weight: 2, arbitrary: points },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          fc.constantFrom('$or', '$or', '$or', '$and'),
          fc.array(tie('filter'), { minLength: 1, maxLength: 3 }),
          fc.option(conjunction, { nil: {} }),
        )
        .map(([operator, list, beside]): Doc => ({ [operator]: list, ...beside })),
    },
  ),
})).filter;
export const filter = fc.oneof(
  { weight: 1, arbitrary: conjunction },
  { weight: 2, arbitrary: nested },
  { weight: 1, arbitrary: points },
);
export const sort = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'c.x'), fc.constantFrom(1, -1)), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .filter((fields) => !(fields.some(([name]) => name === 'c') && fields.some(([name]) => name === 'c.x')))
  .map((fields): Doc => Object.fromEntries(fields));

const simple = fc.record(
  { x: fc.nat(3), y: fc.constantFrom('a', null) },
  { requiredKeys: [], noNullPrototype: true },
);
const plain = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('a', 'ab', null, true),
  fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
  simple,
);
/** Documents whose numbers JavaScript can add; an index refuses those with an array in one of its fields. */
export const updatable = fc
  .tuple(
    fc.record(
      { b: fc.integer({ min: 0, max: 3 }), c: fc.oneof(fc.constant('c'), fc.integer()), d: plain },
      { requiredKeys: [], noNullPrototype: true },
    ),
    fc.option(simple, { nil: undefined }),
  )
  .map(([base, c]): Doc => (c === undefined ? base : { ...base, c }));
const field = fc.constantFrom('a', 'b', 'c', 'c.x', 'd', 'd', 'd.0', 'd.x.y', 'd.2');
const push = fc.record(
  {
    $each: fc.array(plain, { maxLength: 3 }),
    $position: fc.nat(2),
  },
  { requiredKeys: ['$each'], noNullPrototype: true },
);
const changes = fc
  .oneof(
    fc.tuple(fc.constantFrom('$set', '$min', '$max', '$addToSet'), field, plain),
    fc.tuple(fc.constant('$inc'), field, fc.integer({ min: -3, max: 3 })),
    fc.tuple(fc.constant('$unset'), field, fc.constant('')),
    fc.tuple(fc.constant('$push'), field, push),
    fc.tuple(fc.constant('$pop'), field, fc.constantFrom(1, -1)),
    fc.tuple(fc.constant('$pull'), field, fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant({ $gte: 1 }))),
  )
  .map(([operator, name, operand]): Doc => ({ [operator]: { [name]: operand } }));
export const action = fc.record({ filter, changes: fc.option(changes, { nil: undefined, freq: 8 }) });

/** One to three indexes of one to three fields. */
export const indexes = fc.uniqueArray(
  fc
    .tuple(
      fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'a.x', 'c.x', 'c.y'), fc.constantFrom(1, -1)), {
        minLength: 1,
        maxLength: 3,
        selector: ([name]) => name,
      }),
      fc.constantFrom<Doc>(
        {},
        {},
        {},
        ...[{ a: 1 }, { b: { $exists: true } }, { b: 'a', 'c.x': { $exists: true } }].map(
          (partialFilterExpression) => ({ partialFilterExpression }),
        ),
      ),
    )
    .map(([fields, options]): Doc => ({ key: Object.fromEntries(fields), ...options })),
  { minLength: 1, maxLength: 3, selector: ({ key }) => JSON.stringify(key) },
);
