import { expect } from 'chai';
import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoExpiredSessionError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import mongoose from 'mongoose';
import { AppError } from '../../../../domain/kernel/errors.js';
import { toAppError } from '../../../../domain/platform/process/failures.js';

/** An error of a class that the driver does not export: known by its name. */
const named = (name: string) => Object.defineProperty(new MongoError('x'), 'name', { value: name });

const server = (code: number) => new MongoServerError({ code, message: 'x' });
const system = (code: string) => Object.assign(new Error('x'), { code });

/** A bulk write's failure. */
const bulk = (error: object) => new MongoBulkWriteError(error as never, {} as never);

/** What the driver makes of a failure that is no refusal of the server's. */
const unjudged = bulk(new MongoNetworkError('connection 3 to 127.0.0.1:27017 closed'));

/** Failures that say that the database is away, or cannot write right now. */
const away: unknown[] = [
  new MongoNetworkError('x'),
  new MongoNetworkTimeoutError('x'),
  new MongoNotConnectedError('x'),
  new MongoTopologyClosedError('x'),
  new MongoServerClosedError('x'),
  new MongoOperationTimeoutError('x'),
  new MongoExpiredSessionError('x'),
  new MongoClientClosedError(),
  new MongoServerSelectionError('x', {} as never),
  new MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: 'x' }, ok: 1 } as never),
  new mongoose.Error.MongooseServerSelectionError('x'),
  ...['MongoPoolClearedError', 'PoolClearedOnNetworkError', 'MongoPoolClosedError'].map(named),
  named('MongoWaitQueueTimeoutError'),
  new mongoose.Error('Cannot call `rooms.find()` before initial connection is complete'),
  unjudged,
  // HostUnreachable, HostNotFound, WriteConcernFailed, NetworkTimeout, ShutdownInProgress, PrimarySteppedDown,
  // ExceededTimeLimit, SocketException, NotWritablePrimary, InterruptedAtShutdown,
  // InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary
  ...[6, 7, 50, 64, 89, 91, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436].map(server),
  ...['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].map(system),
  ...['ENOTFOUND', 'EAI_AGAIN'].map(system),
];

/** Faults of ours, whatever the database says of them. */
const internal: unknown[] = [
  new Error('x'),
  new TypeError('x'),
  new MongoAPIError('x'),
  new MongoInvalidArgumentError('x'),
  new mongoose.Error('x'),
  // BadValue, DuplicateKey, DocumentValidationFailure
  ...[2, 11_000, 121].map(server),
  system('EACCES'),
  bulk({ message: 'x', code: 121, writeErrors: [{ code: 121 }] }),
  'MongoNetworkError',
  { name: 'MongoNetworkError' },
  undefined,
  null,
];

const said = (error: unknown) => {
  const { code, errors, cause } = toAppError(error);
  expect(cause, 'for the log').to.equal(error);
  return { code, errors };
};

describe('the error a client receives', () => {
  it('says that the database does not answer', () => {
    for (const error of away) {
      const { name, code } = error as { name: string; code?: unknown };
      expect(said(error), `${name} ${code}`).to.deep.equal({
        code: 'SERVICE_UNAVAILABLE',
        errors: ['the database does not answer'],
      });
    }
  });

  it('says that the disk is full', () => {
    expect(said(server(14_031))).to.deep.equal({
      code: 'SERVICE_UNAVAILABLE',
      errors: ['the disk of the database is full or failing'],
    });
  });

  it('says nothing about internals', () => {
    for (const error of internal)
      expect(said(error), String(error)).to.deep.equal({
        code: 'INTERNAL_ERROR',
        errors: ['something went wrong on our side'],
      });
  });

  it('is an error of the catalogue unchanged', () => {
    const error = new AppError('FORBIDDEN', 'not yours');
    expect(toAppError(error)).to.equal(error);
  });
});
