import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { plantedFaults } from '../../../scripts/mutate/planted/index.js';
import { type PlantedFault, textWith } from '../../../scripts/mutate/planted/planted-fault.js';
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
 * found by another rule, and hides none of the others. The remaining ones need several processes, or many messages.
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
    'keep-presence': async (conversation) => {
      await conversation.leave();
      await sleep(GONE_MS);
      await conversation.enter(0, 'b');
    },
  },
  { 'swap-pushes': sayMany },
  {
    'double-push': sayMany,
    // Ends all connections.
    'lose-on-kill': async (conversation) => {
      await conversation.say();
      await conversation.restart();
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
    const rows = [...table.matchAll(/^\| `([^`]+)` \| (.+) \| `([^`]+)` \|$/gm)].map(([, ...cells]) => cells);
    const expected = Object.entries(plantedFaults).map(([name, { does, options, rule }]) => [
      ...[name, `${does}${options ? ` (with \`${options.join(' ')}\`)` : ''}`, rule],
    ]);
    expect(rows).to.deep.equal(expected);
  });

  it('are not found where there are none', async () => {
    const verdict = await Conversation.judge(sandbox.build, async (conversation) => {
      for (const talk of CONVERSATIONS.flatMap(Object.values)) await talk(conversation);
    });
    expect(verdict.violations, describeVerdict(verdict)).to.deep.equal([]);
  });

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
        const rules = faults.map(({ rule }) => rule);
        expect(verdict.broken, describeVerdict(verdict)).to.include.all.keys(rules);
      } finally {
        for (const restore of restores.reverse()) restore();
      }
    });
  }
});
