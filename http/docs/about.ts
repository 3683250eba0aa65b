/** The part of `info` that both documents share. Whom to ask, only the operator knows. */
export const about = {
  version: '1',
  license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
};
