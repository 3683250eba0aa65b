import { expect } from 'chai';
import { z } from 'zod';
import { checkContent, messageFields } from '../../../domain/chat/index.js';

const input = z.object(messageFields).superRefine(checkContent);
const digits = (count: number) => '1'.repeat(count);

describe('the content of a message', () => {
  for (const [contentType, accepted, refused] of [
    ['text', ['x', 'x'.repeat(5_000), '가'.repeat(5_000)], ['', ' ', 'x'.repeat(5_001), '\ud800', 7, null]],
    ['image', ['x'.repeat(2_048)], ['', 'x'.repeat(2_049)]],
    ['picture', ['x'.repeat(2_048)], ['', 'x'.repeat(2_049)]],
    [
      'coords',
      ['37.5665 126.978', '0 0', '90 180', '-90 -180', `1.${digits(15)} 1.${digits(15)}`],
      [
        ...['90.1 0', '-90.1 0', '0 180.1', '0 -180.1', '100 0', '0 1000'],
        ...[
          '37.5665',
          '37.5665  126',
          '37.5665,126',
          ' 1 1',
          '1 1 ',
          '1 1 1',
          '1. 1',
          '+1 1',
          '1e1 1',
          'a b',
        ],
        ...[`1.${digits(16)} 1`, `1 1.${digits(16)}`],
      ],
    ],
    ['video', [], ['x']],
  ] as const) {
    it(`as ${contentType}`, () => {
      for (const content of accepted) {
        expect(input.safeParse({ contentType, content }).success, JSON.stringify(content)).to.equal(true);
      }
      for (const content of refused) {
        const { success, error } = input.safeParse({ contentType, content });
        expect(success, JSON.stringify(content)).to.equal(false);
        const field = contentType === 'video' ? 'contentType' : 'content';
        expect(error?.issues[0]?.path).to.deep.equal([field]);
      }
    });
  }
});
