import { expect } from 'chai';
import { AppError, listErrorCodes } from '../../../domain/kernel/errors.js';

describe('errors for clients', () => {
  for (const { code, status, retryable, text } of listErrorCodes()) {
    it(`${code} has its status, a text, and says whether and when to try again`, () => {
      const error = new AppError(code);
      expect(error).to.include({ code, status, name: 'AppError', message: code });
      expect(error.body).to.deep.equal({ status, message: code, errors: [text] });
      // What is no fault of the request may work later, and only what passes by itself says when.
      expect(retryable).to.equal(status === 429 || status >= 500);
      expect(error.retryAfterMs).to.equal([429, 503].includes(status) ? 1_000 : undefined);
      expect(error).not.to.have.property('cause');
    });
  }

  it('contain what their thrower gives', () => {
    const cause = new Error('inside');
    const error = new AppError('RATE_LIMITED', ['a', 'b'], { retryAfterMs: 5, cause });
    expect(error).to.include({ retryAfterMs: 5, cause });
    expect(error.body).to.deep.equal({ status: 429, message: 'RATE_LIMITED', errors: ['a', 'b'] });
    expect(new AppError('NOT_FOUND', 'one').errors).to.deep.equal(['one']);
  });
});
