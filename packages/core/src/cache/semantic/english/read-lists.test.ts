import { expect, test } from 'bun:test';
import { linesOf, listsOf, mapOf, numbersOf, setOf } from './read-lists';

const FILE = `# What it is for.

[small]
one two
three
[pairs]
# Two words a line.
go went
ten 10
`;

test('lists stand below their names; remarks and empty lines say nothing', () => {
  const list = listsOf(FILE);
  expect([...setOf(list('small'))]).toEqual(['one', 'two', 'three']);
  expect(mapOf(list('pairs')).get('go')).toBe('went');
  expect(numbersOf(list('pairs')).get('ten')).toBe(10);
  expect(linesOf('# none\n\n a \n')).toEqual([' a ']);
});

test('a list that is not there is an error, not an empty one', () => {
  expect(() => listsOf(FILE)('large')).toThrow('[large]');
});
