import { expect, test } from 'bun:test';
import type { MatrixCell } from './matrix';
import { placeBetweenMarks, renderMatrix } from './render-matrix';

const cell = (given: Partial<MatrixCell>): MatrixCell => ({
  ...{
    on: 'input',
    route: '/v1/x',
    vendor: 'openai',
    stream: false,
    part: 'user',
    action: 'redact',
    tries: 2,
    leaks: 0,
  },
  ...given,
});

test('each route, vendor and way has a line, each part a column; what leaked is bold', () => {
  const table = renderMatrix([
    cell({}),
    cell({ action: 'block', tries: 3 }),
    cell({ part: 'system', leaks: 1 }),
    cell({ stream: true, on: 'output' }),
  ]);
  expect(table.split('\n')).toEqual([
    '4 cells, 9 requests with planted secrets, 1 leaks.',
    '',
    '| route | vendor | on | stream | system | user | tries | leaks |',
    '|---|---|---|---|---|---|---:|---:|',
    '| `/v1/x` | openai | input | no | **R!** | B R | 7 | 1 |',
    '| `/v1/x` | openai | output | yes | – | R | 2 | 0 |',
  ]);
  expect(() => renderMatrix([cell({ part: 'elsewhere' })])).toThrow('elsewhere');
});

test('a table takes the place of the one before', () => {
  const document = 'a\n<!-- m: begin -->\nold\n<!-- m: end -->\nb';
  const placed = placeBetweenMarks(document, 'm', 'new');
  expect(placed).toBe('a\n<!-- m: begin -->\n\nnew\n\n<!-- m: end -->\nb');
  expect(placeBetweenMarks(placed, 'm', 'new')).toBe(placed);
  expect(() => placeBetweenMarks('a', 'm', 'new')).toThrow('has no');
});
