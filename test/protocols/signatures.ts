import { createHmac, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { rawRequest } from '../support/raw-connection.js';
import { rawSocket } from '../support/raw-socket.js';
import type { ServiceProcess } from '../support/service-process.js';
import type { Port } from './http1.js';

/*
 * The kinds of Wycheproof's vectors for signed tokens (github.com/C2SP/wycheproof: json_web_signature, hmac_sha256), under its
 * names, made with the key of the service under test.
 */

const HEADER = '{"alg":"HS256"}';

const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');

/** What the vectors are made of. */
interface Parts {
  header: string;
  payload: string;
  /** Bytes of the signature. */
  tag: Buffer;
  /** Signs any text, by default as HS256. */
  sign(text: string, hash?: string): Buffer;
  /** A token of a header as JSON, signed as it stands. */
  under(header: string, hash?: string): string;
}

/** With some bits of the tag flipped. */
const flipped = ({ header, payload, tag }: Parts, ...bits: number[]): string => {
  const changed = Buffer.from(tag);
  for (const bit of bits) changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return `${header}.${payload}.${encode(changed)}`;
};

/** Each byte of the tag changed. */
const tagged = ({ header, payload, tag }: Parts, change: (byte: number) => number): string =>
  `${header}.${payload}.${encode(Buffer.from(tag.map(change)))}`;

/** A token of parts that need not be base64url, with the right signature of them. */
const signed = ({ sign }: Parts, header: string, payload: string): string =>
  `${header}.${payload}.${encode(sign(`${header}.${payload}`))}`;

/** The next character of base64url, so that only bits change that no byte has. */
const withUnusedBits = (text: string): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);

const ACCEPTED: Record<string, (parts: Parts) => string> = {
  acceptsValid: ({ under }) => under(HEADER),
  ValidSpacesInJsonHeader: ({ under }) => under('{ "alg" : "HS256" }'),
  ValidWhiteSpaceInJsonHeader: ({ under }) => under('{\n\t"alg":"HS256"\r\n}'),
};

const REJECTED: Record<string, (parts: Parts) => string> = {
  rejectsModifiedSignature: (parts) => flipped(parts, 2),
  rejectsMissingSignature: ({ header, payload }) => `${header}.${payload}.`,
  rejectsMissingSignatureAndSeparator: ({ header, payload }) => `${header}.${payload}`,
  rejectsModifiedPayload: ({ header, payload, tag }) => `${header}.X${payload.slice(1)}.${encode(tag)}`,
  rejectsMissingPayload: ({ header, tag }) => `${header}..${encode(tag)}`,
  rejectsMissingPayloadAndSeparator: ({ header, tag }) => `${header}.${encode(tag)}`,
  rejectsModifiedHeader: ({ payload, tag }) => `${encode('{"alg":"HS256" }')}.${payload}.${encode(tag)}`,
  rejectsMissingHeader: ({ payload, tag }) => `.${payload}.${encode(tag)}`,
  rejectsMissingHeaderAndSeparator: ({ payload, tag }) => `${payload}.${encode(tag)}`,
  rejectsMissingHeaderAndSignature: ({ payload }) => `.${payload}.`,
  rejectsMissingHeaderSignatureAndSeparators: ({ payload }) => payload,
  rejectsEmptyString: () => '',
  rejectsExtraEmptyComponent: ({ under }) => `${under(HEADER)}.`,
  rejectsExtraComponent: ({ under }) => `${under(HEADER)}.foo`,
  rejectsNoneAlgorithmAndMissingSignature: ({ payload }) => `${encode('{"alg":"none"}')}.${payload}.`,
  rejectsValidJsonSerialization: ({ header, payload, tag }) =>
    JSON.stringify({ payload, signatures: [{ protected: header, signature: encode(tag) }] }),
  algIsNone: ({ under }) => under('{"alg":"none"}'),
  'algIsNone, in other letters': ({ under }) => under('{"alg":"nOnE"}'),
  'WrongPrimitive: HS384': ({ under }) => under('{"alg":"HS384"}', 'sha384'),
  'WrongPrimitive: HS512': ({ under }) => under('{"alg":"HS512"}', 'sha512'),
  'WrongPrimitive: SHA-512 as HS256': ({ under }) => under(HEADER, 'sha512'),
  'rejectsSymmetryConfusionAttacks: RS256': ({ under }) => under('{"alg":"RS256"}'),
  'rejectsSymmetryConfusionAttacks: ES256': ({ under }) => under('{"alg":"ES256"}'),
  rejectsAttackerProvidedEmbeddedJwk({ payload }) {
    const jwk = { kty: 'oct', k: encode('a key of the attacker') };
    const text = `${encode(JSON.stringify({ alg: 'HS256', jwk }))}.${payload}`;
    return `${text}.${encode(createHmac('sha256', 'a key of the attacker').update(text).digest())}`;
  },
  'rejectsAttackerProvidedEmbeddedJwk: of an elliptic curve'({ under }) {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return under(JSON.stringify({ alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }));
  },
  ...Object.fromEntries(
    [0, 1, 7, 8, 31, 32, 33, 63, 64, 71, 77, 80, 96, 97, 103, 248, 249, 254, 255].map((bit) => [
      `Flipped bit ${bit} in tag`,
      (parts: Parts) => flipped(parts, bit),
    ]),
  ),
  'Flipped bits 0 and 64 in tag': (parts) => flipped(parts, 0, 64),
  'Flipped bits 31 and 63 in tag': (parts) => flipped(parts, 31, 63),
  'Flipped bits 63 and 127 in tag': (parts) => flipped(parts, 63, 127),
  'all bits of tag flipped': (parts) => tagged(parts, (byte) => byte ^ 255),
  'Tag changed to all zero': (parts) => tagged(parts, () => 0),
  'tag changed to all 1': (parts) => tagged(parts, () => 255),
  'msbs changed in tag': (parts) => tagged(parts, (byte) => byte ^ 128),
  'lsbs changed in tag': (parts) => tagged(parts, (byte) => byte ^ 1),
  'tag of 128 bits': ({ header, payload, tag }) => `${header}.${payload}.${encode(tag.subarray(0, 16))}`,
  'tag with bytes behind it': ({ header, payload, tag }) =>
    `${header}.${payload}.${encode(Buffer.concat([tag, Buffer.alloc(4)]))}`,
  'empty message': ({ sign }) => `..${encode(sign('.'))}`,
  rejectsSpacesInMac: ({ header, payload, tag }) => `${header}.${payload}.    ${encode(tag)}`,
  rejectsInvalidCharacterInsertedInMac: ({ header, payload, tag }) => `${header}.${payload}.?${encode(tag)}`,
  rejects0ReplacedbyInvalidCharacter: ({ header, payload, tag }) =>
    `${header}.${payload}.?${encode(tag).slice(1)}`,
  rejectsInvalidCharacters: ({ header, payload, tag }) => `${header}.${payload}.????${encode(tag).slice(4)}`,
  spacesInHeader: (parts) => signed(parts, `${parts.header}    `, parts.payload),
  invalidCharactersInHeader: (parts) => signed(parts, `${parts.header}####`, parts.payload),
  invalidBase64Padding: ({ under }) => `${under(HEADER)}=`,
  spacesInPayload: (parts) => signed(parts, parts.header, `    ${parts.payload}`),
  invalidCharactersInPayload: (parts) => signed(parts, parts.header, `####${parts.payload}`),
  invalidBase64PaddingInPayload: (parts) => signed(parts, parts.header, `${parts.payload}=`),
  InvalidCharacterInPayload: (parts) => signed(parts, parts.header, `?${parts.payload}`),
  // The suite lets a verifier skip such a character; RFC 7515 does not.
  InvalidCharacterInsertedInHeader: ({ header, payload, tag }) =>
    `${header.slice(0, -1)}?${header.slice(-1)}.${payload}.${encode(tag)}`,
  InvalidCharacterInsertedInPayload: ({ header, payload, tag }) => `${header}.${payload}?.${encode(tag)}`,
  ModifiedUnusedBitsInPayload: (parts) => signed(parts, parts.header, withUnusedBits(parts.payload)),
  'ModifiedUnusedBits in tag': ({ header, payload, tag }) =>
    `${header}.${payload}.${withUnusedBits(encode(tag))}`,
};

function partsOf(secret: string): Parts {
  const header = encode(HEADER);
  // Its length leaves bits of the last character unused.
  const payload = encode('{"sub":"asker@example.org","exp":4102444800,"nickname":"Bo"}'.padEnd(61));
  const sign = (text: string, hash = 'sha256') => createHmac(hash, secret).update(text).digest();
  const under = (json: string, hash?: string) =>
    `${encode(json)}.${payload}.${encode(sign(`${encode(json)}.${payload}`, hash))}`;
  return { header, payload, tag: sign(`${header}.${payload}`), sign, under };
}

/** @param service the service under test, once it runs */
export function signatureCases(port: Port, service: () => ServiceProcess): void {
  async function isTakenByRest(token: string): Promise<boolean> {
    const request = `GET /chatroom HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${token}\r\n\r\n`;
    const [, status, body] =
      /^HTTP\/1\.1 (\d+) .*\r\n\r\n(.*)$/s.exec(await rawRequest(service().http, request, /\r\n\r\n.+/s)) ??
      [];
    if (status === '200') return true;
    expect([status, JSON.parse(body ?? '').message]).to.deep.equal(['401', 'UNAUTHORIZED']);
    return false;
  }

  async function isTakenByGateway(token: string): Promise<boolean> {
    const { socket, send, next } = await rawSocket(service().gateway);
    send(`40${JSON.stringify({ token })}`);
    const answer = await next(/^4[04]/);
    socket.destroy();
    if (answer.startsWith('40')) return true;
    expect(JSON.parse(answer.slice(2))).to.include({ message: 'UNAUTHORIZED' });
    return false;
  }

  const isTaken = port === 'REST' ? isTakenByRest : isTakenByGateway;

  describe(`Wycheproof, HMAC and JSON web signatures: ${port}`, () => {
    for (const [expected, cases] of [
      ['accepted', ACCEPTED],
      ['rejected', REJECTED],
    ] as const)
      it(`${Object.keys(cases).length} tokens are ${expected}`, async () => {
        const parts = partsOf(service().settings.JWT_SECRET);
        for (const [name, make] of Object.entries(cases))
          expect(await isTaken(make(parts)), name).to.equal(expected === 'accepted');
      });
  });
}
