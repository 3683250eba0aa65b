import { expect } from 'chai';
import { z } from 'zod';
import { AppError } from '../../domain/kernel/errors.js';
import { id, parseInput, pathId, text } from '../../domain/kernel/input.js';

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
  it('takes numbers in a path as plain digits alone', () => {
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

  it('takes numbers in a body as whole, positive and exact ones', () => {
    expect(parseInput(id, 7, 'body')).to.equal(7);
    for (const bad of [0, -1, 1.5, 2 ** 53, Number.NaN, '7', null, undefined, [7], {}, true]) {
      expect(faults(id, bad), String(bad)).to.have.length.of.at.least(1);
    }
  });

  it('takes text as it is, and refuses what could not be given back', () => {
    const kept = '한국어 🐶 \u0000 \r\n <b>&amp;</b> $where';
    expect(parseInput(text(100), kept, 'body')).to.equal(kept);
    for (const bad of ['', '   ', '\n\t', 'x'.repeat(101), '\uD800', 'a\uDC00b', '\uDC00\uD800', 7, null]) {
      expect(faults(text(100), bad), JSON.stringify(bad)).to.have.length.of.at.least(1);
    }
    expect(parseInput(text(100, 0), '', 'body')).to.equal('');
  });

  it('names each fault by its field, at most ten, and the whole where it is no object', () => {
    const schema = z.object({ title: text(5), list: z.array(z.object({ id })) });
    expect(faults(schema, { title: 'too long', list: [{ id: 1 }, { id: 'x' }] })).to.deep.equal([
      'title: must have at most 5 characters',
      'list[1].id: must be a whole number',
    ]);
    expect(faults(schema, { list: Array.from({ length: 50 }, () => ({})) })).to.have.length(10);
    for (const raw of [null, 7, 'text', [], undefined]) expect(faults(schema, raw)[0]).to.match(/^body: /);
  });

  it('leaves unknown fields behind, and prototypes alone', () => {
    const raw = JSON.parse(
      '{"title":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    const parsed = parseInput(z.object({ title: text(5) }), raw, 'body');
    expect(Object.keys(parsed)).to.deep.equal(['title']);
    expect({}).not.to.have.property('polluted');
  });
});
