import { expect, test } from 'bun:test';
import { customerColumns } from '../customers/customer-columns';
import { KEY_COLUMNS } from './keys-card';
import { PROJECT_COLUMNS } from './projects-page';

const PERIOD = /all time|today|this month|in this range|last 14 days/;

test('every sum in the lists of projects, keys and customers names its period', () => {
  const headers = [...PROJECT_COLUMNS, ...KEY_COLUMNS, ...customerColumns(() => undefined, String)].map(
    ({ header }) => header,
  );
  const sums = headers.filter((header) => /^(Spen|Requests(?!\/))/.test(header));
  expect(sums.length).toBe(10);
  expect(sums.filter((header) => !PERIOD.test(header))).toEqual([]);
});
