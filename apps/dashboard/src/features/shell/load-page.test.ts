import { expect, test } from 'bun:test';
import { isAway } from '../../api/away';
import { loadPage } from './load-page';

const failing = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module: /assets/a.js'));
const errorOf = (isThere: boolean) =>
  loadPage(failing, () => Promise.resolve(isThere)).then(
    () => null,
    (error: unknown) => error,
  );

test('a page that a gateway which is away cannot send is an outage, not a reload', async () => {
  expect(isAway(await errorOf(false))).toBe(true);
});

test('a file that a newer gateway has no more leads to a reload; a page that loads is itself', async () => {
  expect(await errorOf(true)).toBeInstanceOf(TypeError);
  expect(await loadPage(() => Promise.resolve('page'))).toBe('page');
});
