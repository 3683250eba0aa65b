import { expect } from 'chai';
import {
  asCommandError,
  CommandError,
  errorReply,
  isRequestError,
  StorageFailure,
} from '../../src/values/errors.js';

describe('embedded database: errors', () => {
  it("gives MongoDB's name with each code (src/mongo/base/error_codes.yml)", () => {
    const names = `
      1 InternalError, 2 BadValue, 9 FailedToParse, 13 Unauthorized, 14 TypeMismatch,
      15 Overflow, 16 InvalidLength, 22 InvalidBSON, 26 NamespaceNotFound, 27 IndexNotFound,
      28 PathNotViable, 40 ConflictingUpdateOperators, 43 CursorNotFound,
      52 DollarPrefixedFieldName, 53 InvalidIdField, 54 NotSingleValueField, 56 EmptyFieldName,
      59 CommandNotFound, 66 ImmutableField, 67 CannotCreateIndex, 72 InvalidOptions,
      73 InvalidNamespace, 85 IndexOptionsConflict, 86 IndexKeySpecsConflict,
      238 NotImplemented, 10334 BSONObjectTooLarge, 11000 DuplicateKey, 14031 OutOfDiskSpace,
      40323 Location40323`;
    for (const [, number, codeName] of names.matchAll(/(\d+) (\w+)/g)) {
      const code = Number(number);
      const reply = { ok: 0, code, codeName, errmsg: 'x', more: 1 };
      expect(errorReply(new CommandError(code, 'x', { more: 1 }))).to.deep.equal(reply);
    }
  });

  it('tells errors of a request from those of the store and of this program', () => {
    const bson = Object.assign(new Error('broken'), { name: 'BSONError' });
    const errors: [error: unknown, code: number, text: string, isRequest: boolean][] = [
      [new CommandError(2, 'x'), 2, 'x', true],
      [bson, 22, 'broken', true],
      [new RangeError('stack'), 15, 'nested too deeply', true],
      [
        new StorageFailure('short write', 'full'),
        14031,
        'disk of the embedded database is full: short write',
        false,
      ],
      [new StorageFailure('broken'), 1, 'cannot write: broken', false],
      [new TypeError('a fault'), 1, 'a fault', false],
      ['a string', 1, 'a string', false],
    ];
    for (const [error, code, text, isRequest] of errors) {
      expect(asCommandError(error).code).to.equal(code);
      expect(asCommandError(error).message).to.contain(text);
      expect(isRequestError(error), String(error)).to.equal(isRequest);
    }
  });
});
