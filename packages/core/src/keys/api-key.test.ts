import { expect, test } from 'bun:test';
import {
  type ApiKey,
  allowedToolsOf,
  labelsOf,
  levelWithout,
  type Principal,
  type Project,
  passthroughOf,
} from './api-key';

const principal = (key: ApiKey['labels'], project: Project['labels']) =>
  ({ key: { labels: key }, project: { labels: project } }) as Principal;

test("a key's labels go before its project's, and both before what a caller says", () => {
  const sent = { team: 'mine', feature: 'chat' };
  expect(labelsOf(principal({ team: 'search' }, { team: 'web', env: 'prod' }), sent)).toEqual({
    ...{ team: 'search', env: 'prod', feature: 'chat' },
  });
  expect(labelsOf(principal(null, { team: 'web' }), undefined)).toEqual({ team: 'web' });
  expect(labelsOf(principal(null, null), sent)).toBe(sent);
  expect(labelsOf(principal(null, null), undefined)).toBeUndefined();
});

test('levels take from what key and project permit, and add nothing', () => {
  const own = { passthrough: null, allowedTools: null };
  const project = { passthrough: ['a', 'b'], allowedTools: ['a__*'] } as unknown as Project;
  const permitted = (above: Partial<ApiKey>): Principal => ({ key: { ...own, ...above } as ApiKey, project });
  expect(passthroughOf(permitted({}))).toEqual(['a', 'b']);
  expect(
    passthroughOf(
      permitted({
        passthroughAbove: [
          ['b', 'c'],
          ['a', 'b'],
        ],
      }),
    ),
  ).toEqual(['b']);
  expect(passthroughOf(permitted({ passthroughAbove: [[]] }))).toEqual([]);
  expect(allowedToolsOf(permitted({}))).toEqual([['a__*']]);
  expect(allowedToolsOf(permitted({ toolsAbove: [['*'], []] }))).toEqual([['a__*'], ['*'], []]);
});

test('each level must permit a provider; the widest that does not is named', () => {
  const above = [
    { level: 'organization', providers: ['a', 'b'] },
    { level: 'project', providers: ['a', 'c'] },
  ] as const;
  const without = (own: readonly string[] | null, provider: string, providersAbove?: typeof above) =>
    levelWithout({ allowedProviders: own, ...(providersAbove && { providersAbove }) }, provider);
  expect(without(null, 'x')).toBeUndefined();
  expect([without(['a'], 'a'), without(['a'], 'b')]).toEqual([undefined, 'key']);
  const each = ['a', 'b', 'c', 'x'].map((provider) => without(['a'], provider, above));
  expect(each).toEqual([undefined, 'project', 'organization', 'organization']);
  expect(without(['b'], 'a', above)).toBe('key');
});
