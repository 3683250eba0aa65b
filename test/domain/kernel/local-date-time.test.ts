import { expect } from 'chai';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';

describe('local date-times', () => {
  const cases: [zone: string, instant: string, text: string][] = [
    ['Asia/Seoul', '2022-08-01T03:34:56.123Z', '2022-08-01T12:34:56.123000'],
    ['Asia/Seoul', '2021-12-31T15:00:00.000Z', '2022-01-01T00:00:00.000000'],
    ['UTC', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000000'],
    // The hour that is skipped, and the one that comes twice.
    ['America/New_York', '2024-03-10T06:59:59.999Z', '2024-03-10T01:59:59.999000'],
    ['America/New_York', '2024-03-10T07:00:00.000Z', '2024-03-10T03:00:00.000000'],
    ['America/New_York', '2024-11-03T05:30:00.000Z', '2024-11-03T01:30:00.000000'],
    ['America/New_York', '2024-11-03T06:30:00.000Z', '2024-11-03T01:30:00.000000'],
    // Offsets that are no whole hours, and a change by half an hour.
    ['Asia/Kathmandu', '2024-01-01T00:00:00.000Z', '2024-01-01T05:45:00.000000'],
    ['Australia/Lord_Howe', '2024-04-06T14:59:59.000Z', '2024-04-07T01:59:59.000000'],
    ['Australia/Lord_Howe', '2024-04-06T15:00:00.000Z', '2024-04-07T01:30:00.000000'],
    // A day that was left out, and a time before the epoch.
    ['Pacific/Apia', '2011-12-30T09:59:59.000Z', '2011-12-29T23:59:59.000000'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31T00:00:00.000000'],
    ['Asia/Seoul', '1969-12-31T14:59:59.999Z', '1969-12-31T23:59:59.999000'],
    ['UTC', '2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999000'],
  ];

  for (const [zone, instant, text] of cases) {
    it(`writes ${instant} in ${zone}`, () => {
      const local = createLocalDateTime(zone);
      const epochMs = Date.parse(instant);
      expect(local.text(epochMs)).to.equal(text);
      const numbers = text.split(/\D/).slice(0, 6).map(Number);
      expect(local.numbers(epochMs)).to.deep.equal(numbers);
      // From memory now.
      expect(local.text(epochMs)).to.equal(text);
    });
  }

  it('agrees with Intl on every hour of a year with changes', () => {
    const local = createLocalDateTime('Europe/Berlin');
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'Europe/Berlin',
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    for (let at = Date.UTC(2024, 0, 1); at < Date.UTC(2025, 0, 1); at += 3_600_000) {
      expect(local.text(at).slice(0, 19).replace('T', ' ')).to.equal(format.format(at));
    }
  });

  it('caches at most ten thousand offsets', () => {
    const QUARTER_MS = 900_000;
    const local = createLocalDateTime('Asia/Seoul');
    const { formatToParts } = Intl.DateTimeFormat.prototype;
    let asked = 0;
    Intl.DateTimeFormat.prototype.formatToParts = function (...args) {
      asked += 1;
      return formatToParts.apply(this, args);
    };
    try {
      for (let i = 0; i < 20_000; i += 1) local.text((i % 10_000) * QUARTER_MS);
      expect(asked).to.equal(10_000);
      local.text(10_000 * QUARTER_MS);
      local.text(0);
      expect(asked).to.equal(10_002);
    } finally {
      Intl.DateTimeFormat.prototype.formatToParts = formatToParts;
    }
  });

  it('refuses an unknown zone', () => {
    expect(() => createLocalDateTime('Asia/Soul')).to.throw(RangeError);
  });
});
