import { expect } from 'chai';
import { listErrorCodes } from '../../domain/kernel/errors.js';
import { variableNames } from '../../domain/platform/settings/config.js';
import { listCloseReasons } from '../../gateway/connection/close-reasons.js';
import { mentionsOf, textOf, wrong } from './documents.js';

const codes = listErrorCodes().map(({ code }) => code as string);
const closeReasons = listCloseReasons().map(({ code }) => code as string);
const protocol = textOf('gateway/PROTOCOL.md');
const asyncApi = JSON.parse(textOf('docs/api/asyncapi.json'));

const codesIn = (text: string): string[] =>
  [...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code = '']) => code).filter((code) => codes.includes(code));

/** The error codes of an event's acknowledgement in the published description. */
function acknowledged(event: string): string[] {
  const { examples } = asyncApi.channels.socket.messages[`${event.replace(':', '.')}.ack`];
  return examples.map(({ name }: { name: string }) => name).filter((name: string) => codes.includes(name));
}

/** The page's section on a client event. */
function sectionOf(event: string): string {
  return protocol.split(/^### /m).find((section) => section.startsWith(`\`${event}\`:`)) ?? '';
}

describe('error codes in documents', () => {
  it('exist, as does every name in capitals', () => {
    const named = mentionsOf(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g);
    expect(named.length).to.be.greaterThan(60);
    // The last ones are V8’s, that of a test, and Node’s.
    const known = [
      ...codes,
      ...closeReasons,
      ...variableNames,
      'NODE_V8_COVERAGE',
      'PROVE_SEED',
      'NODE_EXTRA_CA_CERTS',
    ];
    expect(wrong(named, ({ found }) => known.includes(found))).to.deep.equal([]);
  });

  it('are all in the table of the published page, with status and text', () => {
    const [, table = ''] = textOf('docs/api/docs.html').split('id="section-errors"');
    const rows = [
      ...table.matchAll(
        /<tr><td>(\d+)<\/td><th scope="row"><code>(\w+)<\/code><\/th><td>(yes|no)<\/td><td>(.*?)<\/td>/g,
      ),
    ];
    const told = rows.map(([, status, code, retry, text]) => ({
      code,
      status: Number(status),
      retryable: retry === 'yes',
      text,
    }));
    expect(told).to.deep.equal(listErrorCodes());
  });

  it('of each socket request are those of its section and those of any request', () => {
    const [, any = ''] = /^Any request may be answered with ([^;]+);/m.exec(protocol) ?? [];
    const ofAny = codesIn(any);
    expect(ofAny).to.have.length(4);
    const events = ['room:join', 'room:leave', 'message:send', 'message:read', 'typing', 'auth:refresh'];
    for (const event of events) {
      const [, errors = ''] = /Errors: ([\s\S]*)/.exec(sectionOf(event)) ?? [];
      expect(acknowledged(event), event).to.have.members([...ofAny, ...codesIn(errors)]);
    }
    const requests = Object.keys(asyncApi.operations).filter((key) => key.startsWith('receive.'));
    expect(requests).to.have.length(events.length);
  });

  it('of a refused connection are the same in both descriptions', () => {
    const [, row = ''] = /^\| Refused \|(.*)$/m.exec(protocol) ?? [];
    const { summary } = asyncApi.channels.socket.messages['server.connect_error'];
    const [, list = ''] = /Codes: ([^.]*)\./.exec(summary) ?? [];
    expect(codesIn(row)).to.deep.equal(list.split(', '));
  });
});
