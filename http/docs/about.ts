/**
 * What both documents say of the service as a whole. The source cannot know who runs it: addresses of a
 * reserved domain (RFC 2606) stand for theirs.
 */
export const about = {
  version: '1',
  contact: {
    name: 'The operator of this service',
    url: 'https://example.org',
    email: 'operator@example.org',
  },
  license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
};
