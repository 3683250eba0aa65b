import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { plantedFaults } from '../../../scripts/mutate/planted/index.js';
import { type PlantedFault, rulesOf, textWith } from '../../../scripts/mutate/planted/planted-fault.js';
import { createSandbox, type Sandbox } from '../../../scripts/mutate/sandbox.js';
import { describeVerdict } from '../../../scripts/prove/check/judge.js';
import { sleep } from '../../support/eventually.js';
import { Conversation } from './planted-conversation.js';

type Talk = (conversation: Conversation) => Promise<unknown>;

/** One message in twenty is wrong. */
const sayMany: Talk = (conversation) => Promise.all(Array.from({ length: 30 }, () => conversation.say()));

/** Time, ms, after which nobody counts as present who has left (scripts/prove/check/facts/views.ts), and some. */
const GONE_MS = 10_050;

/**
 * What shows faults. Those of one conversation are planted together, as starting a service takes most of the time: each is
 * found by another rule, and hides none of the others. The remaining ones need several processes.
 */
const CONVERSATIONS: Record<string, Talk>[] = [
  {
    'unread-off-by-one': (conversation) => conversation.rest(0).rooms(),
    'ack-before-store': async (conversation) => {
      await conversation.say();
      await conversation.rest(1).messages(conversation.room, 40);
    },
    'notify-twice': (conversation) => conversation.comment(),
    'skip-stream-event': async (conversation) => {
      await conversation.leave();
      let last = '';
      for (let i = 0; i < 12; i += 1) last = await conversation.say();
      await conversation.notified(last);
    },
  },
  {
    'drop-push': sayMany,
    'seq-hole': sayMany,
    'wrong-mine': (conversation) => conversation.rest(1).messages(conversation.room, 40),
    'typing-without-end': async (conversation) => conversation.socket(1).typing(conversation.room, false),
    'keep-presence': async (conversation) => {
      await conversation.leave();
      await sleep(GONE_MS);
      await conversation.enter(0, 'b');
    },
  },
  {
    'swap-pushes': sayMany,
    'bookmarks-of-all': async (conversation) => {
      const { article } = conversation.article;
      for (const who of [0, 1] as const) await conversation.rest(who).bookmark(article);
      await conversation.rest(0).unbookmark(article);
    },
    'heart-twice': async (conversation) => {
      for (let i = 0; i < 2; i += 1)
        await conversation.rest(0).heart('article', conversation.article.article);
    },
    'reply-to-nobody': async (conversation) =>
      conversation.comment('a reply', await conversation.comment('a question')),
    'list-deleted': async (conversation) => {
      const { reader } = conversation.article;
      await conversation.comment('to be noticed');
      const door = conversation.rest(reader === 0 ? 1 : 0);
      const { ok } = await door.notifications();
      await door.delete(ok?.notifications.map(({ id }) => id) ?? []);
    },
    'count-deleted-comments': async (conversation) => {
      const { article, reader } = conversation.article;
      await conversation.rest(reader).uncomment(article, await conversation.comment('to be deleted'));
    },
  },
  {
    'double-push': sayMany,
    'store-retry': async (conversation) => {
      for (let i = 0; i < 2; i += 1)
        await conversation.socket(0).send({ room: conversation.room, key: 'twice', content: 'sent twice' });
    },
    'wrong-name': (conversation) => conversation.say(),
    'page-skips-one': async (conversation) => {
      const { ok } = await conversation.rest(0).messages(conversation.room, 5);
      await conversation.rest(0).messages(conversation.room, 5, ok?.messages[0]?.id);
    },
    'read-ignored': async (conversation) => {
      await conversation.leave();
      for (let i = 0; i < 5; i += 1) await conversation.say();
      await conversation.socket(1).read(conversation.room, 1_000);
      await conversation.rest(1).rooms();
    },
    // Ends all connections.
    'lose-on-kill': async (conversation) => {
      await conversation.say();
      await conversation.restart();
    },
  },
  {
    'open-rooms': (conversation) => {
      const path = `/chatroom/${conversation.room}`;
      return conversation.rest(2).intrude('messages', 'foreign', conversation.room, { method: 'GET', path });
    },
    'page-reversed': sayMany,
    'heard-after-leave': async (conversation) => {
      await conversation.leave();
      await conversation.say();
    },
    'unread-stays': async (conversation) => {
      await conversation.socket(1).read(conversation.room, 1_000);
      await conversation.rest(1).rooms();
    },
    'rest-leave-ignored': async (conversation) => {
      await conversation.rest(0).leave(conversation.room);
      await sleep(GONE_MS);
      await conversation.enter(1, 'b');
    },
  },
  {
    'own-name': (conversation) => conversation.rest(0).rooms(),
    'read-on-other-side': async (conversation) => {
      await conversation.leave();
      await conversation.say();
      await conversation.enter(1, 'b');
    },
  },
];

describe('planted faults', () => {
  const root = projectRoot();
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox(root, `planted-${process.pid}`);
  });
  after(() => sandbox.remove());

  it('are edits of the compiled service', () => {
    for (const [name, fault] of Object.entries(plantedFaults)) {
      const text = textWith(fault, join(root, 'dist'));
      expect(text, name).to.include(fault.replace);
    }
  });

  it('are documented', () => {
    const page = readFileSync(join(root, 'docs', 'consistency.md'), 'utf8');
    const [, table = ''] = page.split('### Planted faults');
    const rows = [...table.matchAll(/^\| `([^`]+)` \| (.+) \| `(.+)` \|$/gm)].map(([, ...cells]) => cells);
    const expected = Object.entries(plantedFaults).map(([name, fault]) => {
      const { does, options } = fault;
      return [
        name,
        options ? `${does} (with \`${options.join(' ')}\`)` : does,
        rulesOf(fault).join('` or `'),
      ];
    });
    expect(rows).to.deep.equal(expected);
  });

  it('are not found where there are none', async () => {
    const verdict = await Conversation.judge(sandbox.build, async (conversation) => {
      for (const talk of CONVERSATIONS.flatMap(Object.values)) await talk(conversation);
    });
    expect(verdict.violations, describeVerdict(verdict)).to.deep.equal([]);
    // All conversations in a row.
  }).timeout(300_000);

  for (const talks of CONVERSATIONS) {
    const faults = Object.keys(talks).map((name) => ({ name, ...(plantedFaults[name] as PlantedFault) }));
    it(`are found: ${faults.map(({ name, rule }) => `${name} as ${rule}`).join(', ')}`, async () => {
      // More than one may be in a file.
      const restores = faults.map((fault) =>
        sandbox.change(join('dist', fault.file), textWith(fault, sandbox.build)),
      );
      try {
        const verdict = await Conversation.judge(sandbox.build, async (conversation) => {
          for (const talk of Object.values(talks)) await talk(conversation);
        });
        const rules = Object.keys(verdict.broken);
        const missed = faults.filter((fault) => !rulesOf(fault).some((rule) => rules.includes(rule)));
        expect(missed, describeVerdict(verdict)).to.deep.equal([]);
      } finally {
        for (const restore of restores.reverse()) restore();
      }
    });
  }
});
