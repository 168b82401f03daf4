import { describe, expect, test } from 'bun:test';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { switchesOf } from './failover-rows';

const attempt = (model: string, outcome: string) => ({ provider: 'p', model, outcome, startMs: 0, latencyMs: 5 });
const switches = (...attempts: readonly [model: string, outcome: string][]) =>
  switchesOf(sampleRecord({ attempts: attempts.map(([model, outcome]) => attempt(model, outcome)) })).map(
    (row) => `${row.original_model} ${row.trigger_reason} → ${row.fallback_model} ${row.fallback_succeeded}`,
  );

describe('switches of a request', () => {
  test('one for each change of the target; a second attempt at the same one is none', () => {
    expect(switches(['a', 'server_error'], ['a', 'server_error'], ['b', 'timeout'], ['c', 'ok'])).toEqual([
      'a server_error → b false',
      'b timeout → c true',
    ]);
  });

  test('a target that was passed over is left for the next one', () => {
    expect(switches(['a', 'breaker_open'], ['b', 'ok'])).toEqual(['a breaker_open → b true']);
  });

  test('a hedge that answered is a switch, one that was given up is none', () => {
    expect(switches(['a', 'superseded'], ['b', 'ok'])).toEqual(['a superseded → b true']);
    expect(switches(['a', 'ok'], ['b', 'superseded'])).toEqual([]);
  });
});
