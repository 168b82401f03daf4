import { expect, test } from 'bun:test';
import type { ListedModel } from '../../api/models';
import type { ErrorBucket } from '../../api/stats';
import { prepareRetirements } from './prepare-retirements';

const NOW = Date.UTC(2026, 10, 28, 12);
const model = (name: string, day: string | null) =>
  ({ provider: 'openai', model: name, deprecation_date: day }) as ListedModel;
const used = (group: string, requests: number) => ({ group, requests, success: requests, failures: 0 }) as ErrorBucket;

test('models in use that retire within 30 days, or did, the next one first', () => {
  const models = [
    ...[model('later', '2026-12-29'), model('next', '2026-12-28'), model('soon', '2026-12-03')],
    ...[model('today', '2026-11-28'), model('gone', '2026-11-20'), model('long gone', '2026-10-01')],
    ...[model('idle', '2026-12-03'), model('kept', null)],
  ];
  const names = ['later', 'next', 'soon', 'today', 'gone', 'long gone', 'kept'];
  const buckets = [...names.map((name) => used(`openai/${name}`, 10)), used('mine/house', 30)];
  expect(prepareRetirements(models, buckets, NOW)).toEqual([
    { target: 'openai/gone', text: 'gone retired on Nov 20 (10 % of requests in this range)' },
    { target: 'openai/today', text: 'today retires on Nov 28 (10 % of requests in this range)' },
    { target: 'openai/soon', text: 'soon retires on Dec 3 (10 % of requests in this range)' },
    { target: 'openai/next', text: 'next retires on Dec 28 (10 % of requests in this range)' },
  ]);
});

test('a share below one per cent is no zero, and one model of two providers is named with them', () => {
  const models = [model('old', '2026-12-03'), { ...model('old', '2026-12-03'), provider: 'azure' }];
  const buckets = [used('openai/old', 1), used('azure/old', 999)];
  expect(prepareRetirements(models, buckets, NOW).map(({ text }) => text)).toEqual([
    'azure/old retires on Dec 3 (100 % of requests in this range)',
    'openai/old retires on Dec 3 (less than 1 % of requests in this range)',
  ]);
});
