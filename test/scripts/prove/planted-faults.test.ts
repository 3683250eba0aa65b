import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
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

// A run for each fault takes some eight minutes in all: PLANTED_FAULTS=on.
const isOn = process.env.PLANTED_FAULTS === 'on';

(isOn ? describe : () => {})('a fault that is planted in the service', () => {
  for (const [fault, rule] of Object.entries(FAULTS)) {
    it(`${fault} is found, as ${rule}, with 40 s of traffic at most`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'adoption-planted-'));
      try {
        const file = join(folder, 'history.ndjson');
        const faults = fault === 'lose-on-kill' ? 'kill' : 'none';
        // Within the half second somebody must read the room.
        const isRare = fault === 'ack-before-store';
        const size = ['--seconds', isRare ? '40' : '15', '--members', isRare ? '24' : '16'];
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
