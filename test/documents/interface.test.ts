import { expect } from 'chai';
import { documentedCalls } from '../api/documented-calls.js';
import * as shapes from '../api/documented-shapes.js';
import type { Shape } from '../api/shapes.js';
import { textOf } from './documents.js';

const page = textOf('docs/interface.md');

/** The tested shape of each table of fields. A comment's replies have no table of their own. */
const tables: Record<string, Shape> = {
  'Article detail': shapes.articleDetail,
  'Article summary': (shapes.articleList as { hot: Shape }).hot,
  Comment: { ...(shapes.comment as object), comments: [{}] },
  'Chat room': shapes.chatRoom,
  'Message list': shapes.messageList,
  'Chat notification payload': shapes.chatPayload,
  'Adoption render record': shapes.renderRecord,
  Notification: shapes.notification,
};

/** The JSON type of a more exact type of a shape. */
const types: Record<string, string> = {
  integer: 'number',
  'epoch milliseconds': 'number',
  'local date-time': 'string',
  'six numbers': 'array of number',
};

/** Fields and types as a table has them: `header.title string`. */
function rowsOf(shape: object, prefix = ''): string[] {
  return Object.entries(shape).flatMap(([name, of]: [string, Shape]) => {
    const field = `${prefix}${name}`;
    if (typeof of === 'string') return [`${field} ${types[of] ?? of}`];
    return Array.isArray(of)
      ? [`${field} array of object`, ...rowsOf(of[0] as object, `${field}[].`)]
      : [`${field} object`, ...rowsOf(of, `${field}.`)];
  });
}

describe('docs/interface.md', () => {
  for (const [heading, shape] of Object.entries(tables)) {
    it(`lists the tested fields: ${heading}`, () => {
      const [, section = ''] = page.split(`### ${heading}\n`);
      const rows = [...(section.split('\n#')[0] ?? '').matchAll(/^\| ([\w.[\]]+) \| ([\w ]+) \|/gm)]
        .slice(1)
        .map(
          ([, field, type]) => `${field} ${type?.replace(' or null', '').replace('of reply', 'of object')}`,
        );
      expect(rows).to.deep.equal(rowsOf(shape as object));
    });
  }

  it('lists the tested calls, in their order', () => {
    const calls = [...page.matchAll(/^\| ([\w ]+) \| `([A-Z]+ \/\S+)` \|/gm)].map(
      ([, name, call]) => `${name}: ${call}`,
    );
    const tested = documentedCalls.map(
      ({ name, method, path }) =>
        `${name}: ${method} ${path.replace(/\?.*/, '').replace('heart/article/{article_id}', 'heart/{target}/{id}')}`,
    );
    expect(calls).to.deep.equal(tested);
  });
});

describe('docs/contract.md', () => {
  it('lists the events of both directions, in their order', () => {
    const [, clients = '', server = ''] =
      /^- Clients send ([^.]+)\.[\s\S]*?^- The server sends ([^.]+)\./m.exec(textOf('docs/contract.md')) ??
      [];
    const { messages } = JSON.parse(textOf('docs/api/asyncapi.json')).channels.socket;
    const events = Object.keys(messages).filter((key) => !/\.ack$|connect_error/.test(key));
    const named = (keys: string[]) => keys.map((key) => `\`${messages[key].name}\``).join(', ');
    expect(clients).to.equal(named(events.filter((key) => !key.startsWith('server.'))));
    expect(server).to.equal(named(events.filter((key) => key.startsWith('server.'))));
  });
});
