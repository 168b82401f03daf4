import { describe, expect, test } from 'bun:test';
import { placeRows } from './place-rows';

const row = (second: number) => ({
  id: `r${second}`,
  created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
});
const page = (seconds: number[], next: string | null = 'more') => ({ data: seconds.map(row), next_cursor: next });
const secondsOf = (pages: readonly { data: readonly { id: string }[] }[]) =>
  pages.map(({ data }) => data.map(({ id }) => Number(id.slice(1))));

describe('rows that come in', () => {
  const pages = [page([50, 40]), page([30, 20])];

  test('the newest stand first, late ones where they belong', () => {
    expect(secondsOf(placeRows(pages, [row(60), row(55), row(35), row(25)]))).toEqual([
      [60, 55, 50, 40],
      [35, 30, 25, 20],
    ]);
  });

  test('older rows come with the next page', () => {
    expect(placeRows(pages, [row(10), row(5)])).toBe(pages);
    expect(secondsOf(placeRows([page([50, 40]), page([30], null)], [row(10)]))).toEqual([
      [50, 40],
      [30, 10],
    ]);
  });

  test('known and repeated rows appear once', () => {
    expect(placeRows(pages, [row(50), row(20)])).toBe(pages);
    expect(secondsOf(placeRows(pages, [row(60), row(60)]))[0]).toEqual([60, 50, 40]);
  });

  test('an empty list takes all, one that was never read none', () => {
    expect(secondsOf(placeRows([page([], null)], [row(1), row(2)]))).toEqual([[2, 1]]);
    expect(placeRows([], [row(1)])).toEqual([]);
  });
});
