import { expect } from 'chai';
import { isSupported } from '../../scripts/command/require-node.js';

describe('the versions of Node that the service starts on', () => {
  it('are those of package.json: 20.19, 22.12 and newer', () => {
    const refused = ['18.20.8', '20.18.1', '21.7.3', '22.11.0'];
    const accepted = ['20.19.0', '22.12.0', '23.0.0', '24.21.0', '26.10.0'];
    expect([...refused, ...accepted].filter(isSupported)).to.deep.equal(accepted);
  });
});
