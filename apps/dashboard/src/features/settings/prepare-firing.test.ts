import { expect, test } from 'bun:test';
import type { ListedAlert } from '../../api/settings';
import { callingAlerts, describeNow } from './prepare-firing';

const NOW = Date.parse('2026-11-28T14:00:00Z');
const told_at = '2026-11-28T13:27:00.000Z';
const firing = {
  ...{ id: 'one', created_at: '2026-11-28T13:26:56.631Z', ended_at: null, value: 0.94, highest: 0.94 },
  ...{ text: '94.0 % of the month budget is used', told_at: null },
};
const alert = (more: Partial<ListedAlert>) =>
  ({ is_firing: true, project_id: null, muted_until: null, last_error: null, firing, ...more }) as ListedAlert;

test('what was found, since when, and why nobody was told', () => {
  const say = (more: Partial<ListedAlert>) => describeNow(alert(more), { zone: 'utc', nowMs: NOW });
  const found = '94.0 % of the month budget is used (at 2026-11-28 13:26 UTC)';
  expect(say({})).toEqual({ found, unsent: null });
  expect(say({ last_error: 'no such host' })).toEqual({ found, unsent: 'Not sent: no such host' });
  const muted_until = '2026-11-28T15:00:00.000Z';
  expect(say({ muted_until }).unsent).toBe('Not sent: muted');
  // Its start was sent before.
  expect(say({ muted_until, firing: { ...firing, told_at } }).unsent).toBeNull();
  expect(say({ firing: null, last_error: 'no such host' })).toEqual({ found: null, unsent: 'Not sent: no such host' });
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
