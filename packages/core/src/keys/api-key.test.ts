import { expect, test } from 'bun:test';
import { type ApiKey, labelsOf, type Principal, type Project } from './api-key';

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
