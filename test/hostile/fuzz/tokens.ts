import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { damaged, near, type Schema } from './values.js';

/** Signs the tokens of the services under test. */
export const SECRET = 'a secret of random tests, long enough for HS256';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');

function signed([header, claims]: [unknown, unknown]): string {
  const body = `${encoded(header)}.${encoded(claims)}`;
  return `${body}.${createHmac('sha256', SECRET).update(body).digest('base64url')}`;
}

const text: Schema = { type: 'string', maxLength: 50 };
const seconds: Schema = { anyOf: [{ const: 4e9 }, { type: 'integer', maximum: 4e9 }] };

const claims: Schema = {
  type: 'object',
  properties: {
    sub: { format: 'email' },
    ...{ exp: seconds, iat: seconds, nbf: seconds },
    ...{ nickname: text, name: text, profile: text, picture: text },
    ...{ role: { enum: ['USER', 'ADMIN'] }, iss: text, aud: text },
  },
};

const header: Schema = { anyOf: [{ const: { alg: 'HS256' } }, { enum: ['none', 'HS512', 'RS256'] }, {}] };

const token = fc.tuple(near(header), near(claims)).map(signed);

/** Access tokens with odd contents, most of them under a valid signature. */
export const tokens: fc.Arbitrary<string> = fc.oneof(token, damaged(token), fc.string());

/** A text as a header can carry it. */
export const headerText = (value: string): string => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
