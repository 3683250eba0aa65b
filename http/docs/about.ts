/** The part of `info` that both documents share. Addresses of a reserved domain (RFC 2606) stand for the operator's. */
export const about = {
  version: '1',
  contact: {
    name: 'The operator of this service',
    url: 'https://example.org',
    email: 'operator@example.org',
  },
  license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
};
