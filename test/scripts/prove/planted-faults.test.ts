import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeVerdict } from '../../../scripts/prove/check/judge.js';
import { runProgram } from '../../support/child-process.js';
import { sleep } from '../../support/eventually.js';
import { takeErrors } from '../../support/unexpected-errors.js';
import { Conversation } from './planted-conversation.js';

interface PlantedFault {
  /** The rule that names it. */
  rule: string;
  /** What shows it. */
  talk(conversation: Conversation): Promise<unknown>;
  /** Members of a run that shows it, and its seconds; by default 16 and 15. */
  size?: [members: number, seconds: number];
}

/** One push in a thousand is wrong. */
const sayMany = async (conversation: Conversation) => {
  for (let i = 0; i < 11; i += 1) await Promise.all(Array.from({ length: 100 }, () => conversation.say()));
};

/** Time, ms, after which nobody counts as present who has left (scripts/prove/check/facts/views.ts), and some. */
const GONE_MS = 10_050;

const FAULTS: Record<string, PlantedFault> = {
  'drop-push': { rule: 'no-view-skips', talk: sayMany, size: [40, 60] },
  'swap-pushes': { rule: 'no-view-skips', talk: sayMany, size: [40, 60] },
  'double-push': { rule: 'no-view-skips', talk: sayMany, size: [40, 60] },
  'ack-before-store': {
    rule: 'acknowledged-is-kept',
    async talk(conversation) {
      await conversation.say();
      await conversation.rest(1).messages(conversation.room, 40);
    },
    // Within the half second somebody must read the room.
    size: [24, 40],
  },
  'keep-presence': {
    rule: 'presence',
    async talk(conversation) {
      await conversation.leave();
      await sleep(GONE_MS);
      await conversation.enter(0, 'b');
    },
  },
  'unread-off-by-one': {
    rule: 'unread-counts',
    talk: (conversation) => conversation.rest(0).rooms(),
  },
  'notify-twice': { rule: 'notified-once', talk: (conversation) => conversation.comment() },
  'skip-stream-event': {
    rule: 'stream-without-gap',
    async talk(conversation) {
      await conversation.leave();
      let last = '';
      for (let i = 0; i < 12; i += 1) last = await conversation.say();
      await conversation.notified(last);
    },
  },
  'seq-hole': {
    rule: 'numbered-without-holes',
    async talk(conversation) {
      for (let i = 0; i < 60; i += 1) await conversation.say();
    },
  },
  'lose-on-kill': {
    rule: 'acknowledged-is-kept',
    async talk(conversation) {
      await conversation.say();
      await conversation.restart();
    },
  },
};

describe('a fault that is planted in the service', () => {
  afterEach(() => void takeErrors());

  it('is not found where there is none', async () => {
    const verdict = await Conversation.judge('off', async (conversation) => {
      for (const { talk } of Object.values(FAULTS)) await talk(conversation);
    });
    expect(verdict.violations, describeVerdict(verdict)).to.deep.equal([]);
  });

  for (const [fault, { rule, talk }] of Object.entries(FAULTS)) {
    it(`${fault} is found, as ${rule}`, async () => {
      const verdict = await Conversation.judge(fault, talk);
      expect(verdict.broken, describeVerdict(verdict)).to.have.property(rule);
    });
  }
});

// A run for each takes some nine minutes in all: PLANTED_FAULTS=on.
const isOn = process.env.PLANTED_FAULTS === 'on';

(isOn ? describe : () => {})('a fault that is planted in the processes of a run', () => {
  for (const [fault, { rule, size: [members, seconds] = [16, 15] }] of Object.entries(FAULTS)) {
    it(`${fault} is found, as ${rule}, with ${seconds} s of traffic`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'adoption-planted-'));
      try {
        const file = join(folder, 'history.ndjson');
        const faults = fault === 'lose-on-kill' ? 'kill' : 'none';
        const size = ['--seconds', String(seconds), '--members', String(members)];
        const { status, output } = await runProgram({
          path: 'scripts/prove.js',
          args: [...size, '--gateways', '2', '--http', '1', '--faults', faults, '--log', file],
          folder,
          env: { PLANTED_FAULT: fault, HOME: folder, TMPDIR: folder },
        });
        expect(status, output).to.equal(1);
        expect(output).to.match(new RegExp(`^broken: ${rule} \\(`, 'm'));
      } finally {
        rmSync(folder, { recursive: true });
      }
    }).timeout(240_000);
  }
});
