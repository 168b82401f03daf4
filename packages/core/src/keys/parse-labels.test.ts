import { expect, test } from 'bun:test';
import { parseLabels } from './parse-labels';

test.each<[string, Record<string, string> | undefined]>([
  ['team=search', { team: 'search' }],
  [' team = search , cost-center=47=11 ', { team: 'search', 'cost-center': '47=11' }],
  ['', undefined],
  ['team', undefined],
  ['=search', undefined],
  ['team= ', undefined],
  ['Team=search', undefined],
  ['team=search,', undefined],
])('labels as they are typed: %p', (text, labels) => {
  expect(parseLabels(text)).toEqual(labels);
});
