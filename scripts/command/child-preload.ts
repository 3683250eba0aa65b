/**
 * Loaded before the program of every child process of the tests and of `npm run prove`: ends it with its parent, however
 * that ends, and shifts its clock where CLOCK_SHIFT_MS is set.
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
  // Mongoose recognises the type of a field by its name.
  Object.defineProperty(ShiftedDate, 'name', { value: 'Date' });
  globalThis.Date = ShiftedDate as DateConstructor;
}
