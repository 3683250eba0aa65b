import { expect } from 'chai';
import { Pm2 } from '../../scripts/cluster/pm2.js';

describe('npm run cluster without pm2', () => {
  it('says in one line what is missing, and what to do', () => {
    expect(() => new Pm2('/nonexistent', '/nonexistent/pm2')).to.throw(
      /^pm2, which runs the processes, is not installed: npm install --include=optional, or .+$/,
    );
  });
});
