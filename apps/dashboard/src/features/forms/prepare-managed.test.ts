import { expect, test } from 'bun:test';
import { describeManaged, filesOf, splitManaged } from './prepare-managed';
import type { Manager } from './use-managed';

const manager = (apply_name: string, resource_id: string, applied_at: string): Manager => ({
  ...{ apply_name, resource: 'key', resource_id, is_created: true, secret_digest: null, applied_at },
  ...{ changed_at: applied_at, changed_by: 'somebody' },
});
const EARLY = '2026-01-01T00:00:00Z';
const LATE = '2026-01-02T00:00:00Z';

test('what files manage is apart from what they do not', () => {
  const managers = new Map([['a', [manager('prod', 'a', EARLY)]]]);
  expect(splitManaged([{ id: 'a' }, { id: 'b' }], ({ id }) => id, managers)).toEqual({
    managed: [{ id: 'a' }],
    free: [{ id: 'b' }],
  });
});

test('each file appears once, with its latest apply', () => {
  const found = filesOf([manager('prod', 'a', EARLY), manager('prod', 'b', LATE), manager('team', 'a', EARLY)]);
  expect(found).toMatchObject([
    { apply_name: 'prod', applied_at: LATE, changed_at: null },
    { apply_name: 'team', applied_at: EARLY },
  ]);
});

test.each([
  [['web'], 1, false, 'This key is managed and stays unchanged until you unlock it: web.'],
  [['web', 'cli'], 3, false, '2 of 3 keys are managed and stay unchanged until you unlock them: web, cli.'],
  [['web'], 3, true, '1 of 3 keys is managed: web.'],
  [['a', 'b', 'c', 'd'], 4, true, '4 of 4 keys are managed: a, b, c and 1 more.'],
])('the note says which ones are managed: %j of %d, unlocked %p', (names, all, isUnlocked, text) => {
  expect(describeManaged(names, { all, noun: 'key', isUnlocked })).toBe(text);
});
