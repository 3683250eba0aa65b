import { expect } from 'chai';
import { z } from 'zod';
import type { ArticleList } from '../../domain/community/index.js';
import { requests } from '../../gateway/protocol.js';
import { checkRow } from '../../scripts/import/row.schema.js';
import { anyone, type Member, member } from '../support/api.js';
import { openApi } from '../support/api-documents.js';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { notifyOf } from '../support/notifications.js';
import type { Reply } from '../support/rest.js';
import { closeSockets, connect } from '../support/sockets.js';

/** One code point, two UTF-16 units, four bytes of UTF-8. */
const EMOJI = '🐈';

interface Schema {
  $ref?: string;
  format?: string;
  maxLength?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** The limits of free text in a schema, by the path of the field. */
function limitsIn(schema: Schema, path = ''): Map<string, number> {
  const { $ref, format, maxLength, items, properties = {}, anyOf = [], oneOf = [] } = schema;
  if ($ref) {
    const [, ...parts] = $ref.split('/');
    return limitsIn(
      parts.reduce((value, part) => value[part as never], openApi as unknown as Schema),
      path,
    );
  }
  const own: [string, number][] = maxLength !== undefined && format === undefined ? [[path, maxLength]] : [];
  const inner = [
    ...[...anyOf, ...oneOf].flatMap((one) => [...limitsIn(one, path)]),
    ...(items ? limitsIn(items, `${path}[0]`) : []),
    ...Object.entries(properties).flatMap(([name, one]) => [
      ...limitsIn(one, path === '' ? name : `${path}.${name}`),
    ]),
  ];
  return new Map([...own, ...inner]);
}

/** A body with a field replaced. */
function replaced(body: object, path: string, value: string): object {
  const copy = structuredClone(body);
  const parts = path.split(/[.[\]]+/).filter(Boolean);
  const last = parts.pop() as string;
  const holder = parts.reduce((part, name) => part[name as never], copy);
  Object.assign(holder, { [last]: value });
  return copy;
}

/** All limits of text in documented calls: the call, the field (of the query: `?field`), and the most code points. */
const limits = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
    const ofQuery = parameters.flatMap(({ name, schema }) =>
      [...limitsIn(schema as Schema)].map(([, max]) => [`?${name}`, max] as const),
    );
    const ofBody = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => [
      ...limitsIn(schema as Schema),
    ]);
    const all = new Map([...ofQuery, ...ofBody]);
    return [...all].map(([field, max]) => [`${method.toUpperCase()} ${path}`, field, max] as const);
  }),
);

describe('a limit of text counts code points', () => {
  let author: Member;
  let room: OpenedRoom;
  /** A valid call for each documented one that has a limit: its path, and its body. */
  let calls: Record<string, [path: string, body?: object]>;

  before(async () => {
    room = await openRoom();
    author = await member();
    const { chatNo, saleNo } = room;
    const draft = {
      categoryId: 1,
      title: 'T',
      context: 'C',
      imageList: [{ id: 1, url: '/a' }],
      thumbnail: '/a',
    };
    await author.post('/community/article', draft);
    const { body } = await anyone.get<ArticleList>('/community/list/recent?size=1');
    const boardId = body.list[0]?.id;
    await author.post('/community/comment', { boardId, parentId: 0, context: 'C' });
    const comments = await anyone.get<{ id: number }[]>(`/community/comment/${boardId}`);
    calls = {
      'POST /community/article': ['/community/article', draft],
      'PATCH /community/article/{article_id}': [`/community/article/${boardId}`, draft],
      'GET /community/list/{order}': ['/community/list/recent?option=title'],
      'POST /community/comment': ['/community/comment', { boardId, parentId: 0, context: 'C' }],
      'PATCH /community/comment': ['/community/comment', { id: comments.body[0]?.id, context: 'C' }],
      'POST /chatroom/notification': [
        '/chatroom/notification',
        { chatNo, saleNo, contentType: 'text', content: 'C' },
      ],
      'GET /chatroom/{chat_no}': [`/chatroom/${chatNo}?limit=1`],
    };
  });
  after(closeSockets);

  function ask(call: string, field: string, value: string): Promise<Reply<{ errors?: string[] }>> {
    const [method] = call.split(' ');
    const [path, body] = calls[call] ?? [];
    if (!path) throw new Error(`there is no valid example of ${call}`);
    const who = call.includes('/chatroom') ? room.asker : author;
    if (field.startsWith('?')) return who.get(`${path}&${field.slice(1)}=${encodeURIComponent(value)}`);
    return who.call(path, { method: method as string, json: replaced(body as object, field, value) });
  }

  for (const [call, field, max] of limits) {
    it(`of ${call}, ${field}: ${max}`, async () => {
      const most = await ask(call, field, EMOJI.repeat(max));
      // An id of so many characters is none of a message, but it is looked for.
      const isId = ['id', '?before'].includes(field);
      expect(most.status, most.text).to.equal(isId ? 404 : 200);
      const over = await ask(call, field, EMOJI.repeat(max + 1));
      expect(over.status, over.text).to.equal(400);
      const [fault, ...others] = over.body.errors ?? [];
      expect(others).to.deep.equal([]);
      expect(fault).to.include(`${field.replace('?', '')}: `);
      if (!isId) expect(fault).to.include(`must have at most ${max} characters`);
    });
  }

  it('of messages by socket', async () => {
    const client = await connect(room.asker);
    const { chatNo } = room;
    const found: string[] = [];
    for (const [event, { request }] of Object.entries(requests)) {
      const schema = z.toJSONSchema(request, { io: 'input', unrepresentable: 'any' }) as Schema;
      for (const [field, max] of limitsIn(schema)) {
        found.push(`${event} ${field}`);
        const send = (length: number) =>
          client.ask(event, {
            ...{ chatNo, contentType: 'text', content: 'C', after: 0 },
            [field]: EMOJI.repeat(length),
          });
        expect(await send(max)).to.include({ status: 200 });
        const fault = `${field}: must have at most ${max} characters`;
        expect(await send(max + 1)).to.deep.include({ status: 400, errors: [fault] });
      }
    }
    expect(found).to.deep.equal(['room:join afterId', 'message:send content', 'message:send clientId']);
  });

  it('of the address of an image, by REST and by socket', async () => {
    const client = await connect(room.asker);
    const { chatNo, saleNo } = room;
    for (const contentType of ['image', 'picture']) {
      const fields = { chatNo, saleNo, contentType };
      const fault = 'content: must have at most 2048 characters';
      const most = { ...fields, content: EMOJI.repeat(2_048) };
      const over = { ...fields, content: EMOJI.repeat(2_049) };
      expect((await room.asker.post('/chatroom/notification', most)).status).to.equal(200);
      expect(await client.ask('message:send', most)).to.include({ status: 200 });
      const refused = await room.asker.post('/chatroom/notification', over);
      expect(refused.body).to.deep.include({ status: 400, errors: [fault] });
      expect(await client.ask('message:send', over)).to.deep.include({ status: 400, errors: [fault] });
    }
  });

  it('of imported rows', () => {
    const bodies: Record<string, unknown>[] = [
      { record: 'member', email: 'a@example.org', nickname: 'N', profile: '/p' },
      {
        ...{ record: 'adoption', title: 'T', author: 'a@example.org', name: 'N', age: '2', kind: 'dog' },
        ...{ latitude: 1, longitude: 1, thumbnail: '/t' },
      },
    ];
    const found: Record<string, number> = {};
    for (const body of bodies) {
      for (const field of Object.keys(body)) {
        const faultsOf = (length: number) => {
          const checked = checkRow({ ...body, [field]: EMOJI.repeat(length) });
          return 'faults' in checked ? checked.faults : [];
        };
        const [fault = ''] = faultsOf(100_000);
        const [, most] = /^\w+: must have at most (\d+) characters$/.exec(fault) ?? [];
        if (!most) continue;
        found[field] = Number(most);
        expect(faultsOf(Number(most)), field).to.deep.equal([]);
        expect(faultsOf(Number(most) + 1), field).to.deep.equal([fault]);
      }
    }
    expect(found).to.deep.equal({
      ...{ nickname: 50, profile: 2_048, title: 200, name: 100, age: 50, kind: 100, thumbnail: 2_048 },
    });
  });

  it('of a notification, which is shortened', async () => {
    for (const [length, shown] of [
      [200, EMOJI.repeat(200)],
      [201, `${EMOJI.repeat(199)}…`],
    ] as const) {
      await notifyOf(author, EMOJI.repeat(length));
      const { body } = await author.get<{ content: string }[]>('/notification/all');
      expect(body[0]).to.include({ content: shown });
    }
  });
});
