import { expect, test } from 'bun:test';
import { prepareDifferences, prepareSentence, type Told } from './prepare-audit';

const SHOP = '3f2c1a52-0d0c-4a1e-9a53-111111111111';
const NAMES = {
  project: (id: string) => (id === SHOP ? 'shop' : id),
  key: (id: string) => (id === 'k1' ? 'prod' : id),
  timeZone: 'utc' as const,
};
const entry = (given: Partial<Told>): Told => ({
  ...{ actor: 'Anna', action: 'update', resource: 'project', resource_id: SHOP, before: null, after: null },
  ...given,
});
const project = { id: SHOP, name: 'shop', monthly_cap_usd: 100, cache_enabled: true, is_active: true };
const key = { id: 'k1', project_id: SHOP, name: 'prod', budget_usd: null, previous_secret_expires_at: null };
const update = (before: object, changes: object, given: Partial<Told> = {}) =>
  entry({ before, after: { ...before, updated_at: '2026-11-26T00:00:00.000Z', ...changes }, ...given });
const ofKey = { resource: 'key', resource_id: 'k1' };

test.each<[Told, string]>([
  [update(project, { monthly_cap_usd: 200 }), 'raised the monthly cap of project shop from $100.00 to $200.00'],
  [update(project, { monthly_cap_usd: 50 }), 'lowered the monthly cap of project shop from $100.00 to $50.00'],
  [update(project, { monthly_cap_usd: null }), 'removed the monthly cap of project shop ($100.00)'],
  [update(project, { cache_enabled: false }), 'turned caching of project shop off'],
  [update(project, { is_active: false }), 'deactivated project shop'],
  [update(project, { name: 'store' }), 'renamed project shop to store'],
  [update(project, {}), 'saved project shop without a change'],
  [
    update(project, { monthly_cap_usd: 1, cache_enabled: false }),
    'changed the monthly cap and the caching of project shop',
  ],
  [
    update(
      { id: 'nine', project_id: SHOP, state: 'running', ended_at: null },
      { state: 'stopped', ended_at: '2026-11-26T09:00:00.000Z' },
      { resource: 'run', resource_id: `${SHOP}/nine` },
    ),
    'stopped run nine of project shop',
  ],
  [update(key, { budget_usd: 5 }, ofKey), 'set the budget of key prod of project shop to $5.00'],
  [update(key, { allowed_models: ['a'] }, ofKey), 'changed the allowed models of key prod of project shop'],
  [
    update(key, { previous_secret_expires_at: '2026-11-26T09:00:00.000Z' }, { ...ofKey, action: 'rotate' }),
    'rotated the secret of key prod of project shop; the old one works until 2026-11-26 09:00:00 UTC',
  ],
  [
    update(key, {}, { ...ofKey, action: 'rotate' }),
    'rotated the secret of key prod of project shop; the old one ended at once',
  ],
  [entry({ ...ofKey, action: 'create', after: key }), 'created key prod of project shop'],
  [entry({ ...ofKey, action: 'delete', before: key }), 'revoked key prod of project shop'],
  [
    update(
      { project_id: SHOP, customer_id: 'ann', daily_spend_limit_usd: 1 },
      { daily_spend_limit_usd: 2 },
      { resource: 'customer_limits', resource_id: `${SHOP}/ann` },
    ),
    'raised the daily spend limit of customer ann of shop from $1.00 to $2.00',
  ],
  [
    update(
      { input_usd_per_million: 1 },
      { input_usd_per_million: 0.5 },
      { resource: 'model', resource_id: 'openai/gpt-4o' },
    ),
    'lowered the input price per million of model openai/gpt-4o from $1.00 to $0.50',
  ],
  [entry({ action: 'sign_in', resource: 'session', resource_id: null }), 'signed in'],
  [entry({ action: 'purge', resource: 'cache', before: {} }), 'purged the cache of project shop'],
  [
    entry({ action: 'send', resource: 'playground', resource_id: 'k1', after: {} }),
    'sent a request as key prod from the playground',
  ],
  [entry({ action: 'create', resource: 'alias', resource_id: 'x', after: { alias: 'fast' } }), 'created alias fast'],
])('%#: a sentence', (told, sentence) => {
  expect(prepareSentence(told, NAMES)).toBe(`Anna ${sentence}`);
});

test('many changes: two are named', () => {
  const changes = { monthly_cap_usd: 1, cache_enabled: false, is_active: false, strict_caps: true };
  expect(prepareSentence(update(project, changes), NAMES)).toBe(
    'Anna changed the monthly cap, the caching and 2 more of project shop',
  );
});

test('differences: changed fields alone, with names and units; all fields of something new', () => {
  const changed = update(
    { ...key, allowed_models: ['a', 'b'], labels: { team: 'x' } },
    { allowed_models: [], budget_usd: 0.5, labels: null },
  );
  expect(prepareDifferences(changed, NAMES)).toEqual([
    { label: 'budget', before: 'none', after: '$0.50' },
    { label: 'allowed models', before: 'a, b', after: 'none at all' },
    { label: 'labels', before: '{\n  "team": "x"\n}', after: 'none' },
  ]);
  expect(prepareDifferences(entry({ action: 'create', after: key }), NAMES)).toEqual([
    { label: 'project', after: 'shop' },
    { label: 'name', after: 'prod' },
  ]);
  expect(prepareDifferences(entry({ action: 'delete', before: { name: 'x' } }), NAMES)).toEqual([
    { label: 'name', before: 'x' },
  ]);
});
