import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { describeVerdict, judge } from '../../../scripts/prove/check/judge.js';
import { runProgram } from '../../support/child-process.js';

/** Each planted fault, and the rule that names it. */
const FAULTS: Record<string, string> = {
  'drop-push': 'no-view-skips',
  'swap-pushes': 'no-view-skips',
  'double-push': 'no-view-skips',
  'ack-before-store': 'acknowledged-is-kept',
  'lose-on-kill': 'acknowledged-is-kept',
  'keep-presence': 'presence',
  'unread-off-by-one': 'unread-counts',
  'notify-twice': 'notified-once',
  'skip-stream-event': 'stream-without-gap',
  'seq-hole': 'numbered-without-holes',
};

// A run for each fault takes some twelve minutes in all: PLANTED_FAULTS=on.
const isOn = process.env.PLANTED_FAULTS === 'on';

(isOn ? describe : () => {})('a fault that is planted in the service', () => {
  for (const [fault, rule] of Object.entries(FAULTS)) {
    it(`${fault} is found, as ${rule}, with a minute of traffic at most`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'adoption-planted-'));
      try {
        const file = join(folder, 'history.ndjson');
        const faults = fault === 'lose-on-kill' ? 'kill' : 'none';
        const size = ['--seconds', '40', '--members', '24', '--gateways', '2', '--http', '1'];
        const { status, output } = await runProgram({
          path: 'scripts/prove.js',
          args: [...size, '--faults', faults, '--log', file],
          folder,
          env: { PLANTED_FAULT: fault, HOME: folder },
        });
        expect(status, output).to.be.oneOf([0, 1]);
        const verdict = await judge(createInterface({ input: createReadStream(file) }));
        expect(Object.keys(verdict.broken), describeVerdict(verdict)).to.include(rule);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
