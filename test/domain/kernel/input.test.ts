import { expect } from 'chai';
import { z } from 'zod';
import { AppError } from '../../../domain/kernel/errors.js';
import { id, parseInput, pathId, text, wholeNumber } from '../../../domain/kernel/input.js';

function faults(schema: z.ZodType, raw: unknown): string[] {
  try {
    parseInput(schema, raw, 'body');
    return [];
  } catch (error) {
    expect(error).to.be.an.instanceOf(AppError);
    expect(error).to.have.property('code', 'INVALID_INPUT');
    return (error as AppError).errors;
  }
}

describe('input', () => {
  it('accepts numbers in a path as plain digits only', () => {
    for (const good of ['1', '42', '9007199254740991']) {
      expect(parseInput(pathId, good, 'path')).to.equal(Number(good));
    }
    for (const bad of [
      '0',
      '-1',
      '+1',
      '01',
      '1.0',
      '1e3',
      '0x10',
      ' 1',
      '1 ',
      '',
      '١',
      'NaN',
      'Infinity',
      '9007199254740992',
      '99999999999999999',
      '1\n',
    ]) {
      expect(faults(pathId, bad), JSON.stringify(bad)).to.have.length(1);
    }
  });

  it('accepts whole, positive and exact numbers in a body', () => {
    expect(parseInput(id, 7, 'body')).to.equal(7);
    for (const bad of [0, -1, 1.5, 2 ** 53, Number.NaN, null, undefined, [7], {}, true]) {
      expect(faults(id, bad), String(bad)).to.have.length.of.at.least(1);
    }
  });

  it('accepts digits as text within the same bounds, and no other text', () => {
    for (const good of ['1', '42', '007', '9007199254740991', `${'0'.repeat(30)}7`]) {
      expect(parseInput(id, good, 'body'), good).to.equal(Number(good));
    }
    expect(parseInput(wholeNumber(0, 9), '0', 'body')).to.equal(0);
    expect(faults(id, '0')).to.deep.equal(['body: must be a positive number']);
    expect(faults(wholeNumber(0, 9), '10')).to.deep.equal(['body: must be at most 9']);
    for (const bad of ['', ' ', ' 1', '1\n', '+1', '-1', '1.0', '1e3', '0x10', '1,000', '١', '１', 'NaN']) {
      expect(faults(id, bad), JSON.stringify(bad.slice(0, 20))).to.deep.equal([
        'body: must be a whole number',
      ]);
    }
    for (const large of ['9007199254740992', '99999999999999999', '1'.repeat(300), 2 ** 53, 1e300]) {
      expect(faults(id, large)).to.deep.equal(['body: must be a whole number below 2^53']);
    }
    expect(faults(id, '1'.repeat(10_000)), 'more than any number').to.have.length(1);
  });

  it('refuses a number that a query contains twice', () => {
    expect(faults(pathId, ['1', '2'])).to.deep.equal(['body: must be sent once']);
  });

  it('calls an absent value missing, and null invalid', () => {
    const schema = z.object({
      no: id,
      title: text(5),
      kind: z.enum(['a', 'b'], 'must be a or b'),
      flag: z.boolean('must be true or false'),
      list: z.array(id, 'must be a list'),
      inner: z.object({ url: text(5) }, 'must be an object'),
    });
    const missing = ['no', 'title', 'kind', 'flag', 'list', 'inner'].map((name) => `${name}: is missing`);
    expect(faults(schema, {})).to.deep.equal(missing);
    expect(faults(schema, JSON.parse('{"__proto__":{"no":1,"title":"x"}}'))).to.deep.equal(missing);
    expect(faults(schema, undefined)).to.deep.equal(['body: is missing']);
    const sent = { no: null, title: null, kind: null, flag: null, list: [1, null], inner: {} };
    expect(faults(schema, sent)).to.deep.equal([
      'no: must be a whole number',
      'title: must be text',
      'kind: must be a or b',
      'flag: must be true or false',
      'list[1]: must be a whole number',
      'inner.url: is missing',
    ]);
  });

  it('accepts text unchanged, and refuses what could not be returned', () => {
    const kept = '한국어 🐶 \u0000 \r\n <b>&amp;</b> $where';
    expect(parseInput(text(100), kept, 'body')).to.equal(kept);
    for (const bad of ['', '   ', '\n\t', 'x'.repeat(101), '\uD800', 'a\uDC00b', '\uDC00\uD800', 7, null]) {
      expect(faults(text(100), bad), JSON.stringify(bad)).to.have.length.of.at.least(1);
    }
    expect(parseInput(text(100, 0), '', 'body')).to.equal('');
  });

  it('names the field of each fault, ten at most, or the whole input', () => {
    const schema = z.object({ title: text(5), list: z.array(z.object({ id })) });
    expect(faults(schema, { title: 'too long', list: [{ id: 1 }, { id: 'x' }] })).to.deep.equal([
      'title: must have at most 5 characters',
      'list[1].id: must be a whole number',
    ]);
    expect(faults(schema, { list: Array.from({ length: 50 }, () => ({})) })).to.have.length(10);
    for (const raw of [null, 7, 'text', []]) {
      expect(faults(schema, raw)).to.deep.equal(['body: must be an object']);
    }
  });

  it('drops unknown fields, and does not touch prototypes', () => {
    const raw = JSON.parse(
      '{"title":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    const parsed = parseInput(z.object({ title: text(5) }), raw, 'body');
    expect(Object.keys(parsed)).to.deep.equal(['title']);
    expect({}).not.to.have.property('polluted');
  });
});
