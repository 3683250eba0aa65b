import { expect } from 'chai';
import { mutationsOf } from '../../../scripts/mutate/mutations.js';

/** The texts of all mutations. */
function changed(text: string): string[] {
  return mutationsOf('x.js', text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );
}

describe('mutations of a file', () => {
  it('remove an await, and the awaited call', () => {
    expect(changed('await save(x);')).to.have.members([' save(x);', 'void 0;']);
  });

  it('negate a condition, and fix it to true or false', () => {
    expect(changed('if (a) b;')).to.have.members(['if (!(a)) b;', 'if (true) b;', 'if (false) b;']);
  });

  it('replace a comparison', () => {
    expect(changed('x = a < b;')).to.include.members(['x = a <= b;', 'x = a > b;']);
  });

  it('drop an operand, a field and the content of a finally block', () => {
    expect(changed('x = a && b;')).to.include.members(['x = a;', 'x = b;']);
    expect(changed('f = { unique: u, sparse: s };')).to.include.members([
      'f = {  sparse: s };',
      'f = { unique: u,  };',
    ]);
    expect(changed('try { } finally { x }')).to.include('try { } finally {}');
  });

  it('multiply a constant by ten, divide it, or add one', () => {
    expect(changed('f(500);')).to.include.members(['f((5000));', 'f((50));']);
    expect(changed('f(0);')).to.include('f((1));');
  });

  it('leave log calls alone', () => {
    expect(changed("logger.warn({ a: 1 }, 'x');")).to.deep.equal([]);
  });
});
