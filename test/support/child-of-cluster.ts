/**
 * Loaded before the program of every process of a test's cluster: ends it with the tests, however they
 * end, and sets its clock wrong where a test says so (CLOCK_SHIFT_MS).
 */
process.on('disconnect', () => process.exit(1));

const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0);
if (shift !== 0) {
  const RightDate = Date;
  class ShiftedDate extends RightDate {
    constructor(...args: []) {
      if (args.length === 0) super(RightDate.now() + shift);
      else super(...args);
    }
    static override now(): number {
      return RightDate.now() + shift;
    }
  }
  // By the same name: mongoose knows the type of a field by it.
  Object.defineProperty(ShiftedDate, 'name', { value: 'Date' });
  globalThis.Date = ShiftedDate as DateConstructor;
}
