import { expect, test } from 'bun:test';
import { toNamed } from './find-named';
import { findCommands, PAGE_COMMANDS } from './prepare-palette';

const ALL = toNamed({
  alerts: [{ id: 'a', name: 'budget80', firing: {} }],
  chains: [{ name: 'flagship' }],
  teams: [{ id: 't', name: 'Search team' }],
  users: [{ id: 'u', name: 'Ada', email: 'ada@example.com' }],
});
const first = (typed: string) => findCommands([...PAGE_COMMANDS, ...ALL], typed, [])[0];

test('alerts, chains, teams and users are found by name, users by address too', () => {
  expect(first('budget80')).toMatchObject({ to: '/alerts', search: { open: 'a' }, note: 'firing' });
  expect(first('flagship')).toMatchObject({ to: '/routing', search: { tab: 'chains', open: 'flagship' } });
  expect(first('search team')).toMatchObject({ to: '/teams', search: { open: 't' } });
  expect(first('ada')).toMatchObject({ to: '/teams', search: { tab: 'users', open: 'u' } });
  expect(first('ada@exa')?.label).toBe('Ada');
});

test('what the session may not read is not there', () => {
  expect(toNamed({})).toEqual([]);
});
