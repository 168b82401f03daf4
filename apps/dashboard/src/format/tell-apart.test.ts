import { expect, test } from 'bun:test';
import { sortedByName, tellApart } from './tell-apart';

const project = (id: string, name: string, team_id: string | null = null) => ({ id, name, team_id });
const named = (projects: readonly ReturnType<typeof project>[], teams: ReadonlyMap<string, string> = new Map()) => [
  ...tellApart(projects, ({ team_id: id }) => teams.get(id ?? '')).values(),
];

test('projects of one name are told apart by their teams, else by their ids', () => {
  const teams = new Map([
    ['t1', 'Search'],
    ['t2', 'Shop'],
  ]);
  const chats = [project('0a1b2c3d-1', 'chat', 't1'), project('99999999-2', 'chat', 't2'), project('5-3', 'web', 't1')];
  expect(named(chats, teams)).toEqual(['chat (Search)', 'chat (Shop)', 'web']);
  expect(named(chats)).toEqual(['chat (0a1b2c3d)', 'chat (99999999)', 'web']);
  const inOne = [
    project('0a1b2c3d-1', 'chat', 't1'),
    project('99999999-2', 'chat', 't1'),
    project('8-3', 'chat', 't2'),
  ];
  expect(named(inOne, teams)).toEqual(['chat (0a1b2c3d)', 'chat (99999999)', 'chat (Shop)']);
});

test('a name that looks like a completed one stays apart, whatever comes first', () => {
  const names = named([project('11111111-1', 'a'), project('22222222-2', 'a'), project('3', 'a (11111111)')]);
  expect(new Set(names).size).toBe(3);
});

test('names to choose from are in the order of the alphabet', () => {
  const names = new Map(Object.entries({ a: 'team 10', b: 'Team 2', c: 'apples' }));
  expect(sortedByName(names).map(([id]) => id)).toEqual(['c', 'b', 'a']);
});
