import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { describeError } from '../../../../domain/platform/observe/describe-error.js';
import { freePort } from '../../../../scripts/command/ports.js';

describe('an error in the log', () => {
  it('has its message, its code and our frames', () => {
    const error = Object.assign(new TypeError('no such function'), { code: 'E_NONE', state: { large: 'x' } });
    const { stack = '', ...rest } = describeError(error);
    expect(rest).to.deep.equal({ type: 'TypeError', message: 'no such function', code: 'E_NONE' });
    expect(stack)
      .to.match(/^at .*describe-error\.test/)
      .and.not.match(/node_modules|node:/);
  });

  it('of the database driver has none of its frames and state', async () => {
    const uri = `mongodb://127.0.0.1:${await freePort()}/adoption`;
    const options = { serverSelectionTimeoutMS: 1 };
    const error = await new MongoClient(uri, options).connect().catch((thrown) => thrown);
    const described = describeError(new Error('no database', { cause: error }));
    // The code only where the connect failed before the time was over.
    expect(Object.keys(described).filter((key) => key !== 'code')).to.deep.equal([
      'type',
      'message',
      'stack',
    ]);
    expect(described.message).to.match(/^no database: (?:connect ECONNREFUSED|Server selection timed out)/);
    expect(described.stack?.split('\n')).to.have.length.at.most(8);
  });

  it('raised by a library alone keeps its first frames', async () => {
    const [error] = await once(connect(await freePort(), '127.0.0.1'), 'error').catch((thrown) => [thrown]);
    expect(describeError(error)).to.include({ code: 'ECONNREFUSED' });
    const foreign = Object.assign(new Error('deep'), {
      stack: [
        'Error: deep',
        ...Array.from({ length: 30 }, (_, i) => `    at f (/node_modules/a.js:${i}:1)`),
      ].join('\n'),
    });
    expect(describeError(foreign).stack?.split('\n')).to.have.length(3);
  });

  it('names each of its causes once, and ends with circular ones', () => {
    const cause = new Error('the disk is full');
    expect(describeError(new Error('not stored: the disk is full', { cause })).message).to.equal(
      'not stored: the disk is full',
    );
    cause.cause = cause;
    expect(describeError(cause).message).to.equal('the disk is full');
    expect(describeError(new AggregateError([new Error('a'), 'b'])).message).to.equal('a; b');
  });

  it('is told also if it is none', () => {
    expect(describeError('gone')).to.deep.equal({ type: 'string', message: 'gone' });
    expect(describeError(undefined)).to.deep.equal({ type: 'undefined', message: 'undefined' });
  });
});
