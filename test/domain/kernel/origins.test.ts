import { expect } from 'chai';
import { createOriginPolicy } from '../../../domain/kernel/origins.js';

describe('origins that may call', () => {
  it('are those of this machine by default', () => {
    const allowed = createOriginPolicy(undefined);
    for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:8080']) {
      expect(allowed(origin), origin).to.equal(true);
    }
    for (const origin of [
      '',
      'null',
      'localhost',
      'http://localhost.evil.org',
      'http://evil.org/?http://localhost',
      'http://localhost:3000/path',
      'http://user@localhost',
      'http://127.0.0.1.evil.org',
      'file://',
      'http://localhost:999999',
      'http://localhost\n',
    ]) {
      expect(allowed(origin), origin).to.equal(false);
    }
  });

  it('are exactly the configured ones', () => {
    const allowed = createOriginPolicy(['https://app.example.org']);
    expect(allowed('https://app.example.org')).to.equal(true);
    for (const origin of [
      'http://app.example.org',
      'https://app.example.org:8443',
      'https://app.example.org.evil.org',
      'http://localhost',
      'null',
    ]) {
      expect(allowed(origin), origin).to.equal(false);
    }
  });

  it('are all with an asterisk', () => {
    expect(createOriginPolicy(['*'])('https://anything.example.org')).to.equal(true);
  });
});
