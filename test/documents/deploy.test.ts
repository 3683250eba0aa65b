import { expect } from 'chai';
import { mentionsOf, textOf } from './documents.js';

const units = ['deploy/adoption-realtime.service', 'deploy/adoption-realtime@.service'];

describe('the units for systemd', () => {
  const hardened = units.map(
    (path) => /^NoNewPrivileges[\s\S]*(?=\n\[Install\])/m.exec(textOf(path))?.[0] ?? '',
  );

  it('confine the service, both alike', () => {
    for (const line of [
      'CapabilityBoundingSet=',
      'SystemCallFilter=@system-service @pkey',
      'ProtectSystem=strict',
    ])
      expect(hardened[0]?.split('\n')).to.include(line);
    expect(hardened[1]).to.equal(hardened[0]);
  });

  it('let V8 write machine code', () => {
    for (const path of units) expect(textOf(path)).not.to.match(/^MemoryDenyWriteExecute/m);
  });
});

describe('the images of deploy/', () => {
  it('are pinned to a digest, or by the command that compose.yaml names', () => {
    const used = mentionsOf(/^(?:FROM| *image:) +(\S+)/gm, ['deploy/Dockerfile', 'deploy/compose.yaml'])
      .map(({ found }) => found)
      .filter((image) => image !== 'adoption-realtime');
    const [, pinned = ''] = /for image in (.+); do/.exec(textOf('deploy/compose.yaml')) ?? [];
    expect([...new Set(used.map((image) => image.split('@')[0]))].sort()).to.deep.equal(
      pinned.split(' ').sort(),
    );
  });
});
