import { expect } from 'chai';
import { type ClientHeaders, clientHash, identifyClient, networkOf } from '../../../domain/kernel/client.js';

const identify = (remote: string, headers: ClientHeaders, hops = 0) =>
  identifyClient(remote, headers, hops, (origin) => origin === 'https://app.example.org');
const address = (remote: string, forwardedFor?: string, hops = 0) =>
  identify(remote, { 'x-forwarded-for': forwardedFor }, hops).address;

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

  it('is not identified behind a proxy that is not counted', () => {
    const forwarded = (headers: ClientHeaders, hops: number) => identify('10.0.0.1', headers, hops);
    for (const [headers, hops] of [
      [{ 'x-forwarded-for': '203.0.113.7' }, 0],
      [{ forwarded: 'for=203.0.113.7' }, 0],
      [{ 'x-real-ip': '203.0.113.7' }, 0],
      [{ via: '1.1 cache' }, 0],
      [{ 'x-forwarded-host': 'app.example.org' }, 0],
      [{ 'cf-connecting-ip': '203.0.113.7' }, 0],
      [{ 'true-client-ip': '203.0.113.7' }, 0],
      [{ 'x-client-ip': '203.0.113.7' }, 0],
      [{ 'fly-client-ip': '203.0.113.7' }, 0],
      [{}, 1],
      [{ 'x-forwarded-for': '' }, 1],
      [{ 'x-forwarded-for': '203.0.113.7' }, 2],
    ] as const) {
      expect(forwarded(headers, hops).proxied, JSON.stringify(headers)).to.equal(true);
      expect(clientHash(forwarded(headers, hops))).to.equal(undefined);
    }
    for (const [headers, hops] of [
      [{}, 0],
      [{ 'x-forwarded-for': '', forwarded: '' }, 0],
      [{ 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }, 1],
      [{ 'x-forwarded-for': '6.6.6.6, 203.0.113.7' }, 1],
      [{ 'x-forwarded-for': '203.0.113.7', via: '1.1 edge', 'cf-connecting-ip': '203.0.113.7' }, 1],
    ] as const) {
      expect(forwarded(headers, hops)).not.to.have.property('proxied');
      expect(clientHash(forwarded(headers, hops))).to.match(/^[\w-]{27}$/);
    }
  });

  it('is not identified on a foreign page', () => {
    const on = (origin?: string) => identify('203.0.113.7', { origin });
    for (const origin of ['https://evil.example', 'null']) {
      expect(on(origin).foreign, origin).to.equal(true);
      expect(clientHash(on(origin))).to.equal(undefined);
    }
    expect(on()).not.to.have.property('foreign');
    expect(on('https://app.example.org')).not.to.have.property('foreign');
    expect(clientHash(on('https://app.example.org'))).to.equal(clientHash(on()));
  });

  it('is distinguished by address and user agent', () => {
    const hashes = [
      identify('203.0.113.7', { 'user-agent': 'a' }),
      identify('203.0.113.7', { 'user-agent': 'b' }),
      identify('203.0.113.8', { 'user-agent': 'a' }),
      identify('203.0.113.7', {}),
    ].map(clientHash);
    expect(new Set(hashes).size).to.equal(4);
    expect(hashes.join()).not.to.include('203');
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

  it('has no port, with which some proxies forward it', () => {
    for (const [forwarded, plain] of [
      ['203.0.113.7:4711', '203.0.113.7'],
      ['6.6.6.6:1, 203.0.113.7:65535', '203.0.113.7'],
      ['[2001:db8::1]:4711', '2001:db8::1'],
      ['[2001:DB8:0:0:0:0:0:1]', '2001:db8::1'],
      ['[::ffff:203.0.113.7]:4711', '203.0.113.7'],
    ] as const) {
      expect(address('10.0.0.1', forwarded, 1), forwarded).to.equal(plain);
    }
  });

  it('is the IPv4 address behind NAT64', () => {
    for (const [translated, plain] of [
      ['64:ff9b::198.51.100.7', '198.51.100.7'],
      ['0064:ff9b:0000:0000:0000:0000:c633:6407', '198.51.100.7'],
      ['64:ff9b::100:0', '1.0.0.0'],
      ['64:ff9b::1', '0.0.0.1'],
      ['[64:ff9b::c633:6407]:4711', '198.51.100.7'],
      // Other networks.
      ['64:ff9b::1:c633:6407', '64:ff9b::1:c633:6407'],
      ['64:ff9b:1::c633:6407', '64:ff9b:1::c633:6407'],
      ['::ffff:1', '::ffff:1'],
    ] as const) {
      expect(address(translated), translated).to.equal(plain);
    }
  });

  it('is bounded, whatever is forwarded', () => {
    const client = identify(
      '10.0.0.1',
      { 'x-forwarded-for': 'x'.repeat(10_000), 'user-agent': 'y'.repeat(10_000) },
      1,
    );
    expect(client.address).to.have.length(64);
    expect(client.userAgent).to.have.length(512);
    expect(identify('', {})).to.deep.equal({ address: '', userAgent: '' });
  });
});

describe('the network of an address', () => {
  const networks: [address: string, network: string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0:0:1::1', '2001:0:0:1::/64'],
    ['2001::1:2:3:4:5', '2001:0:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    // What a proxy may write for an address.
    ['unknown', 'unknown'],
    ['198.51.100.7:4711', '198.51.100.7:4711'],
    ['', ''],
  ];
  for (const [address, network] of networks) {
    it(`${address || 'nothing'} is ${network || 'nothing'}`, () => {
      expect(networkOf(address)).to.equal(network);
    });
  }
});
