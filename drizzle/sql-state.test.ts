import { expect, test } from 'bun:test';
import { EngineAwayError } from './queries/clickhouse/ask-clickhouse';
import { errorCode } from './sql-state';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('the code of an error is that of the store that failed, whatever caused it', () => {
  expect(errorCode(new Error('Failed query', { cause: refused }))).toBe('ECONNREFUSED');
  expect(errorCode(new EngineAwayError('no answer', { cause: refused }))).toBe('ENGINE_AWAY');
  expect(errorCode(new Error('something else'))).toBeUndefined();
});
