import { expect, test } from 'bun:test';
import { customerColumns } from './customers-card';
import { KEY_COLUMNS } from './keys-card';
import { PROJECT_COLUMNS } from './projects-page';

const DAY = { from: '2026-11-25T09:15:00Z', to: '2026-11-26T09:15:00Z' };
const PERIOD = /all time|today|this month|Nov 25–26, UTC|last 14 days/;

test('every sum in the lists of projects, keys and customers names its period', () => {
  const headers = [...PROJECT_COLUMNS, ...KEY_COLUMNS, ...customerColumns(DAY)].map(({ header }) => header);
  const sums = headers.filter((header) => /^(Spen|Requests(?!\/))/.test(header));
  expect(sums.length).toBe(11);
  expect(sums.filter((header) => !PERIOD.test(header))).toEqual([]);
});
