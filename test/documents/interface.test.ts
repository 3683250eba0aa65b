import { expect } from 'chai';
import type { JsonSchema } from '../../http/docs/schemas.js';
import { documentedCalls } from '../api/documented-calls.js';
import { openApi } from '../support/api-documents.js';
import { textOf } from './documents.js';

const page = textOf('docs/interface.md');

/** The schema of each table of fields. */
const tables: Record<string, string> = {
  'Article detail': 'ArticleDetail',
  'Article summary': 'ArticleSummary',
  Comment: 'Comment',
  'Chat room': 'ChatRoom',
  'Message list': 'MessageList',
  'Chat notification payload': 'ChatNotification',
  'Adoption render record': 'RenderRecord',
  Notification: 'Notification',
};

function resolved(schema: JsonSchema): JsonSchema {
  const { $ref } = schema as { $ref?: string };
  return ($ref && openApi.components.schemas[$ref.replace(/.*\//, '')]) || schema;
}

/** Fields and types as a table has them: `header.title string`. A comment's replies have no table of their own. */
function rowsOf(schema: JsonSchema, prefix = ''): string[] {
  return Object.entries(schema.properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
    const path = prefix + name;
    const { type, items, properties } = field;
    const typeName = (one: unknown) => String(one).replace('integer', 'number');
    if (properties) return [`${path} object`, ...rowsOf(field, `${path}.`)];
    if (!items) return [`${path} ${typeName(type)}`];
    const inner = resolved(items as JsonSchema);
    const isTold = path === 'comments' || !inner.properties;
    return [`${path} array of ${typeName(inner.type)}`, ...(isTold ? [] : rowsOf(inner, `${path}[].`))];
  });
}

describe('docs/interface.md', () => {
  for (const [heading, name] of Object.entries(tables)) {
    it(`has the fields of the schema: ${heading}`, () => {
      const [, section = ''] = page.split(`### ${heading}\n`);
      const rows = [...(section.split('\n#')[0] ?? '').matchAll(/^\| ([\w.[\]]+) \| ([\w ]+) \|/gm)]
        .slice(1)
        .map(
          ([, field, type]) => `${field} ${type?.replace(' or null', '').replace('of reply', 'of object')}`,
        );
      expect(rows).to.deep.equal(rowsOf(openApi.components.schemas[name] as JsonSchema));
    });
  }

  it('has the calls that are tested, in their order', () => {
    const calls = [...page.matchAll(/^\| ([\w ]+) \| `([A-Z]+ \/\S+)` \|/gm)].map(
      ([, name, call]) => `${name}: ${call}`,
    );
    const tested = documentedCalls.map(
      ({ name, call }) =>
        `${name}: ${call.replace(/\?.*/, '').replace('heart/article/{article_id}', 'heart/{target}/{id}')}`,
    );
    expect(calls).to.deep.equal(tested);
  });
});

describe('docs/contract.md', () => {
  it('names the events of both directions, in their order', () => {
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
