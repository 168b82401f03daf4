import { expect, test } from 'bun:test';
import type { ListedAlert } from '../../api/settings';
import { callingAlerts, describeNow } from './prepare-firing';

const NOW = Date.parse('2026-11-28T14:00:00Z');
const told_at = '2026-11-28T13:27:00.000Z';
const firing = {
  ...{ id: 'one', created_at: '2026-11-28T13:26:56.631Z', ended_at: null, value: 0.94, highest: 0.94 },
  ...{ text: '94.0 % of the month budget is used', told_at: null },
};
const last_check = { at: '2026-11-28T13:59:45.000Z', value: 0.97, text: '97.0 % of the month budget is used' };
const alert = (more: Partial<ListedAlert>) =>
  ({
    ...{ is_active: true, is_firing: true, project_id: null, muted_until: null, last_error: null },
    ...{ firing, last_check, ...more },
  }) as ListedAlert;
const say = (more: Partial<ListedAlert>) => describeNow(alert(more), { zone: 'utc', nowMs: NOW });

test('what the last check measured, not the first of the firing, since when it fires, and why nobody was told', () => {
  const now = {
    since: 'since 2026-11-28 13:26 UTC',
    found: '97.0 % of the month budget is used',
    checked: 'checked 15 seconds ago',
  };
  expect(say({})).toEqual({ ...now, unsent: null });
  expect(say({ kind: 'budget_share' }).since).toBe('newest 2026-11-28 13:26 UTC');
  expect(say({ last_error: 'no such host' })).toEqual({ ...now, unsent: 'Not sent: no such host' });
  const muted_until = '2026-11-28T15:00:00.000Z';
  expect(say({ muted_until }).unsent).toBe('Not sent: muted until 2026-11-28 15:00 UTC');
  expect(say({ muted_until, last_error: 'no such host' }).unsent).toBe(
    'Not sent: no such host. Muted until 2026-11-28 15:00 UTC',
  );
  // Its start was sent before.
  expect(say({ muted_until, firing: { ...firing, told_at } }).unsent).toBe('Muted until 2026-11-28 15:00 UTC');
  expect(say({ firing: null, last_error: 'no such host' })).toEqual({
    ...{ ...now, since: null, unsent: 'Not sent: no such host' },
  });
});

test('what was never checked, has nothing to measure, or is off', () => {
  expect(say({ firing: null, last_check: null })).toMatchObject({ found: 'not measured yet', checked: null });
  expect(say({ last_check: null }).found).toBe('94.0 % of the month budget is used');
  expect(say({ firing: null, last_check: { ...last_check, value: null, text: null } }).found).toBe(
    'nothing to measure',
  );
  expect(say({ firing: null, is_active: false })).toMatchObject({ found: null, checked: null });
  // The clock of the browser is late.
  expect(say({ last_check: { ...last_check, at: '2026-11-28T14:00:09.000Z' } }).checked).toBe('checked now');
});

test('those that call for someone fire, are not muted and concern the project', () => {
  const alerts = [
    alert({ name: 'all' }),
    alert({ name: 'one', project_id: 'a' }),
    alert({ name: 'other', project_id: 'b' }),
    alert({ name: 'quiet', is_firing: false }),
    alert({ name: 'muted', muted_until: '2026-11-28T15:00:00.000Z' }),
    alert({ name: 'heard again', muted_until: '2026-11-28T13:00:00.000Z' }),
  ];
  const names = (projectId?: string) => callingAlerts(alerts, NOW, projectId).map(({ name }) => name);
  expect(names()).toEqual(['all', 'one', 'other', 'heard again']);
  expect(names('a')).toEqual(['all', 'one', 'heard again']);
});
