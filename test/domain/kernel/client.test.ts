import { expect } from 'chai';
import { identifyClient } from '../../../domain/kernel/client.js';

const address = (remote: string, forwardedFor?: string, hops = 0) =>
  identifyClient(remote, forwardedFor, 'agent', hops).address;

describe('the caller', () => {
  it('is the peer without trusted proxies, whatever is forwarded', () => {
    expect(address('198.51.100.7', '203.0.113.1', 0)).to.equal('198.51.100.7');
  });

  it('is what our proxies saw, not what a client sent', () => {
    expect(address('10.0.0.1', '203.0.113.1', 1)).to.equal('203.0.113.1');
    expect(address('10.0.0.1', '6.6.6.6, 203.0.113.1', 1)).to.equal('203.0.113.1');
    expect(address('10.0.0.1', '6.6.6.6, 203.0.113.1, 10.0.0.2', 2)).to.equal('203.0.113.1');
    expect(address('10.0.0.1', ' 203.0.113.1 ,, ', 1)).to.equal('203.0.113.1');
  });

  it('is not identified behind an untrusted proxy', () => {
    expect(identifyClient('10.0.0.1', '203.0.113.7', 'agent', 0).proxied).to.equal(true);
    for (const [forwardedFor, hops] of [
      [undefined, 0],
      ['', 0],
      ['203.0.113.7', 1],
    ] as const) {
      expect(identifyClient('10.0.0.1', forwardedFor, 'agent', hops)).not.to.have.property('proxied');
    }
  });

  it('is the peer if nothing is forwarded, and the first address if hops are missing', () => {
    expect(address('10.0.0.1', undefined, 1)).to.equal('10.0.0.1');
    expect(address('10.0.0.1', '', 1)).to.equal('10.0.0.1');
    expect(address('10.0.0.1', '203.0.113.1', 5)).to.equal('203.0.113.1');
  });

  it('has one spelling of an IPv4 address', () => {
    for (const spelled of [
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '::FFFF:127.0.0.1',
      '0000:0000:0000:0000:0000:ffff:7f00:0001',
      '::ffff:7f00:1',
    ]) {
      expect(address(spelled), spelled).to.equal('127.0.0.1');
    }
  });

  it('has one spelling of an IPv6 address, on both ports', () => {
    // The gateway's server writes all eight groups out and Node shortens them: a member who came over a
    // socket was unknown to a push from the same IPv6 address.
    for (const spelled of [
      '2001:db8::1',
      '2001:DB8:0:0:0:0:0:1',
      '2001:0db8:0000:0000:0000:0000:0000:0001',
      '2001:db8::0.0.0.1',
    ]) {
      expect(address(spelled), spelled).to.equal('2001:db8::1');
    }
    expect(address('0000:0000:0000:0000:0000:0000:0000:0001')).to.equal('::1');
    expect(address('fe80::1%eth0')).to.equal('fe80::1%eth0');
  });

  it('is bounded, whatever is forwarded', () => {
    const client = identifyClient('10.0.0.1', 'x'.repeat(10_000), 'y'.repeat(10_000), 1);
    expect(client.address).to.have.length(64);
    expect(client.userAgent).to.have.length(512);
    expect(identifyClient('', undefined, undefined, 1)).to.deep.equal({ address: '', userAgent: '' });
  });
});
