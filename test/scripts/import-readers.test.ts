import { expect } from 'chai';
import fc from 'fast-check';
import { readCsv } from '../../scripts/import/read-csv.js';
import { readJsonArray } from '../../scripts/import/read-json.js';
import { readNdjson } from '../../scripts/import/read-ndjson.js';
import type { Row } from '../../scripts/import/source.js';

type Reader = (pieces: AsyncIterable<string>) => AsyncGenerator<Row>;

async function* inPieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

/** The rows of a text as `line: value` or `line! fault`; the same however it is cut into pieces. */
async function read(reader: Reader, text: string): Promise<string[]> {
  const outcomes: string[][] = [];
  for (const size of [1, 7, 65_536]) {
    const rows: string[] = [];
    for await (const row of reader(inPieces(text, size))) {
      rows.push('fault' in row ? `${row.line}! ${row.fault}` : `${row.line}: ${JSON.stringify(row.value)}`);
    }
    outcomes.push(rows);
  }
  const [first, ...others] = outcomes;
  for (const other of others) expect(other).to.deep.equal(first);
  return first as string[];
}

async function refusal(reader: Reader, text: string): Promise<string> {
  try {
    await read(reader, text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the text was read');
}

const BAD_JSON = 'is not well-formed JSON';

describe('The import readers', () => {
  describe('JSON', () => {
    it('gives each element the line it starts on', async () => {
      const text = '[{"a":1}\n,{"b":"x,]}\\""},\n\n {"c":[1,\n{"d":2}]}, 5]\n';
      expect(await read(readJsonArray, text)).to.deep.equal([
        '1: {"a":1}',
        '2: {"b":"x,]}\\""}',
        '4: {"c":[1,{"d":2}]}',
        '5: 5',
      ]);
      expect(await read(readJsonArray, ' [ ] ')).to.deep.equal([]);
    });

    it('reads everything that JSON.stringify writes, indented or not', async () => {
      const arrays = fc.array(fc.jsonValue());
      await fc.assert(
        fc.asyncProperty(arrays, fc.constantFrom(0, 2), async (array, indent) => {
          const rows = await read(readJsonArray, JSON.stringify(array, null, indent));
          expect(rows.map((row) => row.replace(/^\d+: /, ''))).to.deep.equal(
            array.map((value) => JSON.stringify(value)),
          );
        }),
        { numRuns: 50 },
      );
    });

    it('rejects a damaged element and continues with the next', async () => {
      expect(await read(readJsonArray, '[\n {"a":"open},\n {"b":2},\n {"c":3}\n]')).to.deep.equal([
        `2! ${BAD_JSON}`,
        '3: {"b":2}',
        '4: {"c":3}',
      ]);
      expect(await read(readJsonArray, '[{"a":1},\n{"b":{"x":2},\n{"c":3}\n]')).to.deep.equal([
        '1: {"a":1}',
        `2! ${BAD_JSON}`,
        '3: {"c":3}',
      ]);
      const pretty = '[\n  {\n    "a": "x\n  },\n  {\n    "b": 2\n  }\n]';
      expect(await read(readJsonArray, pretty)).to.deep.equal([`2! ${BAD_JSON}`, '5: {"b":2}']);
    });

    it('finds the next element after the damage, however many are damaged', async () => {
      const twice = '[\n {"a":"open},\n {"b":"open},\n {"c":3}\n]';
      expect(await read(readJsonArray, twice)).to.deep.equal([
        `2! ${BAD_JSON}`,
        `3! ${BAD_JSON}`,
        '4: {"c":3}',
      ]);
      const balanced = '[\n {"a":"open},\n {"b":2}},\n {"c":3},\n {"d":"open},\n {"e":5}}]';
      expect(await read(readJsonArray, balanced)).to.deep.equal([
        `2! ${BAD_JSON}`,
        `3! ${BAD_JSON}`,
        '4: {"c":3}',
        `5! ${BAD_JSON}`,
        `6! ${BAD_JSON}`,
      ]);
      // An object indented deeper belongs to the damaged one, which begins in the middle of a line.
      const deeper = '[\n 1,   {"a":"open,\n   {"x":1}},\n {"c":3}\n]';
      expect(await read(readJsonArray, deeper)).to.deep.equal(['2: 1', `2! ${BAD_JSON}`, '4: {"c":3}']);
    });

    it('continues after a missing brace, also if more text follows than is kept', async () => {
      const rows = Array.from({ length: 30_000 }, (_, i) => `{"no":${i},"text":"${'x'.repeat(40)}"}`);
      const read: string[] = [];
      for await (const row of readJsonArray(inPieces(`[\n{"a":{},\n${rows.join(',\n')}\n]`, 65_536)))
        read.push('fault' in row ? `${row.line}! ${row.fault}` : JSON.stringify(row.value));
      expect(read[0]).to.equal(`2! ${BAD_JSON}`);
      expect(read.slice(1)).to.deep.equal(rows);
    });

    it('reads no text more than twice, however many elements are damaged', async () => {
      const count = 20_000;
      const damages = [' {"a":"open},\n', ' {"a":1,\n', ' {\n', ' {"a":[\n', ' {"a":"open},\n {"b":2}},\n'];
      for (const damage of damages) {
        const lines = damage.split('\n').length - 1;
        const text = `[\n${damage.repeat(count / lines)} {"c":3}\n]`;
        const read: string[] = [];
        for await (const row of readJsonArray(inPieces(text, 65_536)))
          read.push(
            'fault' in row ? `${row.line}! ${row.fault}` : `${row.line}: ${JSON.stringify(row.value)}`,
          );
        const expected = Array.from({ length: count }, (_, i) => `${i + 2}! ${BAD_JSON}`);
        expect(read.slice(0, count), damage).to.deep.equal(expected);
        expect(read[count], damage).to.equal(`${count + 2}: {"c":3}`);
      }
    }).timeout(20_000);

    it('counts a line that ends with an escape character', async () => {
      expect(await read(readJsonArray, '[\n {"a":"open\\\n},\n {"b":2}\n]')).to.deep.equal([
        `2! ${BAD_JSON}`,
        '4: {"b":2}',
      ]);
    });

    it('reports surplus commas, and a file that was cut off', async () => {
      const comma = 'is empty: there is a comma too many';
      expect(await read(readJsonArray, '[1,,2,]')).to.deep.equal([
        '1: 1',
        `1! ${comma}`,
        '1: 2',
        `1! ${comma}`,
      ]);
      expect(await read(readJsonArray, '[1,]')).to.deep.equal(['1: 1', `1! ${comma}`]);
      expect(await read(readJsonArray, '[,1]')).to.deep.equal([`1! ${comma}`, '1: 1']);
      expect(await read(readJsonArray, '[1,\n{"a":')).to.deep.equal([
        '1: 1',
        `2! ${BAD_JSON}`,
        '2! the array is not closed: the file may have been cut off',
      ]);
      expect(await read(readJsonArray, '[1]\n[2]')).to.deep.equal([
        '1: 1',
        '2! stands behind the end of the array',
      ]);
    });

    it('refuses what is not an array', async () => {
      expect(await refusal(readJsonArray, '\n{"a":1}')).to.match(/^line 2: a JSON file holds an array/);
      expect(await refusal(readJsonArray, '')).to.match(/^the file is empty/);
    });

    it('skips an element that is too long', async () => {
      const text = `[\n${JSON.stringify({ a: 'x'.repeat(1_100_000) })},\n{"b":1}]`;
      const rows: Row[] = [];
      for await (const row of readJsonArray(inPieces(text, 65_536))) rows.push(row);
      expect(rows).to.deep.equal([
        { line: 2, fault: 'is longer than 1048576 characters' },
        { line: 3, value: { b: 1 } },
      ]);
    });
  });

  it('NDJSON: one row per line, blank lines skipped; U+2028 does not end a line', async () => {
    const text = '{"a":"x\u2028y"}\r\n\n  \n{"b":\n[2]';
    expect(await read(readNdjson, text)).to.deep.equal(['1: {"a":"x\u2028y"}', `4! ${BAD_JSON}`, '5: [2]']);
  });

  it('NDJSON: a line may have 1,048,576 characters; only a longer one is rejected', async () => {
    const line = (length: number) => `"${'x'.repeat(length - 2)}"`;
    const lines = [line(1_048_576), line(1_048_577), line(1_048_576), line(3_000_000), '1', line(1_048_577)];
    for (const size of [65_536, 10_000_000]) {
      const rows: string[] = [];
      for await (const row of readNdjson(inPieces(lines.join('\r\n'), size)))
        rows.push('fault' in row ? `${row.line}! ${row.fault}` : `${row.line}: ${String(row.value).length}`);
      const tooLong = 'is longer than 1048576 characters';
      expect(rows).to.deep.equal([
        // The CR is part of the line ending.
        `1: ${1_048_574}`,
        `2! ${tooLong}`,
        `3: ${1_048_574}`,
        `4! ${tooLong}`,
        '5: 1',
        `6! ${tooLong}`,
      ]);
    }
  });

  describe('CSV', () => {
    const QUOTE = 'has a quote (") that is not closed, or stands inside a value without being doubled';

    it('reads quoted values, also over several lines; an empty cell leaves its field out', async () => {
      const text = 'record, name ,age\r\nmember,"a, ""b""\nc",\n\nmember, d ,2\n';
      expect(await read(readCsv, text)).to.deep.equal([
        '2: {"record":"member","name":"a, \\"b\\"\\nc"}',
        '5: {"record":"member","name":"d","age":"2"}',
      ]);
    });

    it('reads a value over several lines with LF, whatever ends the lines', async () => {
      const text = 'record,name\r\nmember,"a\r\nb\r\n\r\nc"\r\nmember,d\r\n';
      expect(await read(readCsv, text)).to.deep.equal([
        '2: {"record":"member","name":"a\\nb\\n\\nc"}',
        '6: {"record":"member","name":"d"}',
      ]);
    });

    it('reads a record of 200 lines, and treats a quote that is open longer as wrong', async () => {
      const record = (lines: number) => `member,"${'x\n'.repeat(lines - 1)}x"`;
      const rows = await read(readCsv, `record,name\n${record(200)}\nmember,e`);
      const name = JSON.stringify(`${'x\n'.repeat(199)}x`);
      expect(rows).to.deep.equal([
        `2: {"record":"member","name":${name}}`,
        '202: {"record":"member","name":"e"}',
      ]);
      const longer = await read(readCsv, `record,name\n${record(201)}\nmember,e`);
      expect(longer[0]).to.equal(`2! ${QUOTE}`);
      // The lines behind it are read as separate records.
      expect(longer[1]).to.equal('3! has 1 values, but the header names 2');
      expect(longer.at(-1)).to.equal('203: {"record":"member","name":"e"}');
      expect(longer).to.have.length(202);
    });

    it('rejects a record with a line that is too long, and continues behind it', async () => {
      const text = `record,name\nmember,"open\n${'x'.repeat(1_048_577)}\nmember,e`;
      const rows: Row[] = [];
      for await (const row of readCsv(inPieces(text, 65_536))) rows.push(row);
      expect(rows).to.deep.equal([
        { line: 2, fault: QUOTE },
        { line: 3, fault: 'is longer than 1048576 characters' },
        { line: 4, value: { record: 'member', name: 'e' } },
      ]);
    });

    it('rejects only the line of a stray quote', async () => {
      const text = 'record,name\nmember,"open\nmember,"b, c"\nmember,5" tall\nmember,"x"y\nmember,e';
      expect(await read(readCsv, text)).to.deep.equal([
        `2! ${QUOTE}`,
        '3: {"record":"member","name":"b, c"}',
        `4! ${QUOTE}`,
        `5! ${QUOTE}`,
        '6: {"record":"member","name":"e"}',
      ]);
    });

    it('skips rows of commas alone, before the header, too', async () => {
      const text = ',,\r\nrecord,name,\r\n,,\r\nmember,d,\r\n, ,,,\r\n"","",""\r\n,\r\n';
      expect(await read(readCsv, text)).to.deep.equal(['4: {"record":"member","name":"d"}']);
    });

    it('refuses a column that is named twice; several without a name are no such', async () => {
      const refused = await refusal(readCsv, '\nrecord,name,age, name\nmember,a,2,b');
      expect(refused).to.equal('line 2: the column "name" is named twice: delete or rename one');
      expect(await read(readCsv, 'record,,\nmember,,')).to.deep.equal(['2: {"record":"member"}']);
    });

    it('reports missing and surplus values, and refuses a header without record', async () => {
      expect(await read(readCsv, 'record,name\nmember\nmember,a,b')).to.deep.equal([
        '2! has 1 values, but the header names 2',
        '3! has 3 values, but the header names 2',
      ]);
      expect(await refusal(readCsv, 'email;record\n')).to.match(/^line 1: the first row of a CSV file/);
    });
  });
});
