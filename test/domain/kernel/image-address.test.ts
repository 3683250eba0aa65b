import { expect } from 'chai';
import { isImageAddress } from '../../../domain/kernel/image-address.js';

const taken = [
  '',
  'NONE',
  'image/bori.jpg',
  '/image/bori.jpg?size=2#top',
  '../bori:1.jpg',
  '//cdn.example.org/bori.jpg',
  'https://cdn.example.org/bori.jpg',
  'HTTP://cdn.example.org/bori.jpg',
  ' https://cdn.example.org/bori.jpg',
  '사진/보리.jpg',
  'data:image/png;base64,iVBORw0KGgo=',
  'DATA:image/webp,abc',
];

const refused = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  '\u0000javascript:alert(1)',
  'java\nscript:alert(1)',
  'java\tscript:alert(1)',
  '\u00a0javascript:alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:image/svg+xml,<svg onload="alert(1)"/>',
  'data:image/png',
  'data:,x',
  'file:///etc/passwd',
  'blob:https://example.org/1',
  'ftp://example.org/bori.jpg',
  'x-custom.1+a:b',
  'image/bo\u0007ri.jpg',
];

describe('the address of an image', () => {
  for (const address of taken)
    it(`may be ${JSON.stringify(address)}`, () => expect(isImageAddress(address)).to.equal(true));
  for (const address of refused)
    it(`may not be ${JSON.stringify(address)}`, () => expect(isImageAddress(address)).to.equal(false));
});
