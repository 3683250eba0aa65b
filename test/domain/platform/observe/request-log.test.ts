import { expect } from 'chai';
import { pino } from 'pino';
import { AppError } from '../../../../domain/kernel/errors.js';
import { RequestLog } from '../../../../domain/platform/observe/request-log.js';
import { loadConfig } from '../../../../domain/platform/settings/config.js';

const settingOf = (LOG_REQUESTS: string) => loadConfig({ LOG_REQUESTS }, '/nonexistent').LOG_REQUESTS;

/** The lines for answers of these statuses, each a level and a status. */
function linesFor(setting: string, statuses: number[], failure?: AppError): string[] {
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, status } = JSON.parse(line);
    lines.push(`${pino.levels.labels[level]} ${status}`);
  };
  const requests = new RequestLog(pino({ base: null }, { write }), settingOf(setting));
  for (const status of statuses) requests.answered(status, () => ({ status }), failure);
  return lines;
}

describe('the log of requests', () => {
  it('has none, those that are refused, or all', () => {
    expect(linesFor('off', [200, 404, 503])).to.deep.equal([]);
    expect(linesFor('errors', [200, 399, 400, 503])).to.deep.equal(['info 400', 'info 503']);
    expect(linesFor('all', [200, 404])).to.deep.equal(['info 200', 'info 404']);
  });

  it('has a share of them', () => {
    const many = Array.from({ length: 10_000 }, () => 200);
    expect(linesFor('0.1', many)).to.have.length.within(700, 1_300);
    expect(linesFor('1', [200, 200])).to.have.length(2);
  });

  it('has each failure of the service once, whatever the setting', () => {
    const failed = new AppError('INTERNAL_ERROR', [], { cause: new TypeError('no such function') });
    expect(linesFor('off', [500], failed)).to.deep.equal(['error 500']);
    expect(linesFor('all', [500], failed)).to.deep.equal(['error 500']);
    expect(linesFor('all', [503], new AppError('SERVICE_UNAVAILABLE', 'away'))).to.deep.equal(['warn 503']);
    expect(linesFor('off', [404], new AppError('NOT_FOUND', 'no such path'))).to.deep.equal([]);
  });
});
