import { expect } from 'chai';
import { clientFrame, rawSocket } from '../support/raw-socket.js';
import type { ServiceProcess } from '../support/service-process.js';
import type { Port } from './http1.js';

/*
 * The kinds of JSONTestSuite (github.com/nst/JSONTestSuite), one file or more of each, under the suite's names: y_ must be
 * accepted, n_ refused, and of i_, which implementations decide, this is how it was decided.
 */

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

const ACCEPTED: Record<string, string | Buffer> = {
  y_array_empty: '[]',
  'y_array_empty-string': '[""]',
  y_array_heterogeneous: '[null, 1, "1", {}]',
  y_array_with_leading_space: ' [1]',
  y_array_with_1_and_newline: '[1\n]',
  'y_number_0e+1': '[0e+1]',
  y_number_minus_zero: '[-0]',
  y_number_real_capital_e_neg_exp: '[1E-2]',
  y_number_double_close_to_zero: `[-0.${'0'.repeat(77)}1]`,
  y_object_duplicated_key: '{"a":"b","a":"c"}',
  y_object_empty_key: '{"":0}',
  y_object_escaped_null_in_key: '{"foo\\u0000bar": 42}',
  y_object_extreme_numbers: '{"min": -1.0e+28, "max": 1.0e+28}',
  y_string_accepted_surrogate_pair: '["\\uD801\\udc37"]',
  y_string_allowed_escapes: '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
  y_string_null_escape: '["\\u0000"]',
  'y_string_u+2028_line_sep': '["\u2028"]',
  y_string_unescaped_char_delete: '["\x7f"]',
  y_string_utf8: '["€𝄞"]',
  'y_string_nonCharacterInUTF-8_U+FFFF': '["\uFFFF"]',
  y_structure_whitespace_array: ' [] ',
  // Numbers out of range become the nearest that there is.
  i_number_huge_exp: '[0.4e00669999999999999999999999999999999999999999]',
  i_number_too_big_pos_int: '[100000000000000000000]',
  i_number_real_underflow: '[123e-10000000]',
  // JSON allows what text does not: such a text is made well-formed where it is stored.
  i_string_1st_surrogate_but_2nd_missing: '["\\uDADA"]',
  'i_string_inverted_surrogates_U+1D11E': '["\\uDd1e\\uD834"]',
  i_object_key_lone_2nd_surrogate: '{"\\uDFAA":0}',
};

const REFUSED: Record<string, string | Buffer> = {
  n_array_1_true_without_comma: '[1 true]',
  n_array_colon_instead_of_comma: '["": 1]',
  n_array_comma_after_close: '[""],',
  n_array_double_comma: '[1,,2]',
  n_array_extra_close: '["x"]]',
  n_array_extra_comma: '["",]',
  n_array_incomplete: '["x"',
  n_array_just_minus: '[-]',
  n_array_spaces_vertical_tab_formfeed: '["\va"\\f]',
  n_array_unclosed_with_new_lines: '[1,\n1\n,1',
  n_array_invalid_utf8: bytes('[', [0xff], ']'),
  n_incomplete_null: '[nul]',
  'n_number_+1': '[+1]',
  'n_number_-01': '[-01]',
  'n_number_-NaN': '[-NaN]',
  'n_number_.2e-3': '[.2e-3]',
  'n_number_0.3e+': '[0.3e+]',
  n_number_Inf: '[Inf]',
  n_number_NaN: '[NaN]',
  'n_number_U+FF11_fullwidth_digit_one': '[１]',
  n_number_expression: '[1+2]',
  n_number_hex_2_digits: '[0x42]',
  n_number_infinity: '[Infinity]',
  n_number_minus_space_1: '[- 1]',
  n_number_real_without_fractional_part: '[1.]',
  n_number_with_leading_zero: '[012]',
  n_object_bad_value: '["x", truth]',
  n_object_double_colon: '{"x"::"b"}',
  n_object_key_with_single_quotes: "{key: 'value'}",
  n_object_missing_key: '{:"b"}',
  n_object_non_string_key: '{1:1}',
  n_object_repeated_null_null: '{null:null,null:null}',
  n_object_several_trailing_commas: '{"id":0,,,,,}',
  n_object_single_quote: "{'a':0}",
  n_object_trailing_comment: '{"a":"b"}/**/',
  n_object_unquoted_key: '{a: "b"}',
  'n_object_unterminated-value': '{"a":"a',
  n_object_with_trailing_garbage: '{"a":"b"}#',
  n_single_space: ' ',
  n_string_1_surrogate_then_escape_u1x: '["\\uD800\\u1x"]',
  n_string_escape_x: '["\\x00"]',
  n_string_escaped_emoji: '["\\🌀"]',
  n_string_incomplete_escape: '["\\"]',
  n_string_invalid_unicode_escape: '["\\uqqqq"]',
  n_string_invalid_utf8_after_escape: bytes('["\\', [0xe5], '"]'),
  n_string_leading_uescaped_thinspace: '[\\u0020"asd"]',
  n_string_unescaped_ctrl_char: '["a\u0000a"]',
  n_string_unescaped_newline: '["new\nline"]',
  n_string_unescaped_tab: '["\t"]',
  n_structure_100000_opening_arrays: '['.repeat(100_000),
  'n_structure_U+2060_word_joined': '[\u2060]',
  n_structure_angle_bracket_null: '[<null>]',
  n_structure_capitalized_True: '[True]',
  n_structure_close_unopened_array: '1]',
  n_structure_double_array: '[][]',
  'n_structure_lone-invalid-utf-8': bytes([0xe9]),
  'n_structure_null-byte-outside-string': '[\u0000]',
  n_structure_object_with_comment: '{"a":/*comment*/"b"}',
  n_structure_open_array_open_object: '[{',
  n_structure_open_object_open_string: '{"a',
  'n_structure_trailing_#': '{"a":"b"}#{}',
  n_structure_unclosed_array_unfinished_true: '[ false, tru',
  n_structure_whitespace_formfeed: '[\f]',
  // Bytes that are no UTF-8 are refused rather than replaced.
  'i_string_UTF-8_invalid_sequence': bytes('["', [0xe6, 0x97, 0xa5, 0xd1, 0x88, 0xfa], '"]'),
  'i_string_UTF8_surrogate_U+D800': bytes('["', [0xed, 0xa0, 0x80], '"]'),
  i_string_overlong_sequence_2_bytes: bytes('["', [0xc0, 0xaf], '"]'),
  'i_string_truncated-utf-8': bytes('["', [0xe0, 0xff], '"]'),
  i_string_utf16LE_no_BOM: Buffer.from('["é"]', 'utf16le'),
  'i_string_UTF-16LE_with_BOM': bytes([0xff, 0xfe], Buffer.from('["é"]', 'utf16le').toString('latin1')),
};

/** By REST and sockets differently. */
const BY_PORT: [name: string, json: string, isAccepted: (port: Port) => boolean][] = [
  // A body must be an object or a list; in an event each value is one argument.
  ...['42', '-0.1', 'false', 'null', '"asd"'].map((json): (typeof BY_PORT)[number] => [
    `y_structure_lonely: ${json}`,
    json,
    (port) => port !== 'REST',
  ]),
  // No body at all reads as an empty object.
  ['n_structure_no_data', '', (port) => port === 'REST'],
  // A byte order mark begins a text.
  ['i_structure_UTF-8_BOM_empty_object', '\uFEFF{}', (port) => port === 'REST'],
];

/** @param service the service under test, once it runs */
export function jsonCases(port: Port, service: () => ServiceProcess): void {
  /** Whether a JSON text as a whole body is parsed: its fields are refused then, rather than it. */
  async function isBodyParsed(json: string | Buffer): Promise<boolean> {
    const { http, token } = service();
    const answer = await fetch(`${http}/community/heart`, {
      method: 'POST',
      headers: { Authorization: await token('asker@example.org'), 'Content-Type': 'application/json' },
      body: json,
    });
    const { status, message } = (await answer.json()) as { status: number; message: string };
    // One of them is larger than any body may be that is no article.
    expect([status, message].join()).to.be.oneOf([
      ...['400,INVALID_INPUT', '400,MALFORMED_BODY', '413,PAYLOAD_TOO_LARGE'],
    ]);
    return message === 'INVALID_INPUT';
  }

  /** Whether a JSON text as an argument of an event is parsed: it is answered then; else the connection is closed. */
  async function isArgumentParsed(json: string | Buffer): Promise<boolean> {
    const { gateway, token } = service();
    const { socket, send, next, closed, heard } = await rawSocket(gateway);
    send(`40${JSON.stringify({ token: await token('asker@example.org') })}`);
    await next(/^40/);
    socket.write(clientFrame(bytes('421["x",', [...Buffer.from(json as Buffer)], ']')));
    await Promise.race([closed, next(/^431/)]);
    socket.destroy();
    return heard.some((text) => text.startsWith('431'));
  }

  const isParsed = port === 'REST' ? isBodyParsed : isArgumentParsed;

  describe(`JSONTestSuite: ${port}`, () => {
    for (const [expected, cases] of [
      ['accepted', ACCEPTED],
      ['refused', REFUSED],
    ] as const)
      it(`${Object.keys(cases).length} texts are ${expected}`, async () => {
        for (const [name, json] of Object.entries(cases))
          expect(await isParsed(json), name).to.equal(expected === 'accepted');
      });

    it('texts that REST and sockets read differently', async () => {
      for (const [name, json, isAccepted] of BY_PORT)
        expect(await isParsed(json), name).to.equal(isAccepted(port));
    });
  });
}
