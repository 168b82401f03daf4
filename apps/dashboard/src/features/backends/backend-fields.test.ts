import { expect, test } from 'bun:test';
import type { Backend } from '../../api/backends';
import type { ErrorBucket } from '../../api/stats';
import { asFields, BACKEND_FIELDS, backendBody, prepareBackends } from './backend-fields';

const backend = {
  ...{ id: 'a', name: 'rerank', url: 'https://x.test', price_per_request_usd: 0.5, timeout_ms: 30_000, retries: 0 },
  ...{ cache: { enabled: true, ttl_seconds: 30 }, is_active: true, header_names: ['x-a'], forward_headers: [] },
  ...{ created_at: '', updated_at: '' },
} as Backend;

test('the parts of the cache stand together, and what is empty is left out', () => {
  expect(
    backendBody({ name: 'a', url: 'u', retries: 0, cache_enabled: false, cache_ttl_seconds: null, headers: null }),
  ).toEqual({
    ...{ name: 'a', url: 'u', retries: 0, cache: { enabled: false, ttl_seconds: null } },
  });
  expect(backendBody({ timeout_ms: 5 })).toEqual({ timeout_ms: 5 });
  expect(backendBody({ cache_ttl_seconds: 9 })).toEqual({ cache: { ttl_seconds: 9 } });
  expect(backendBody({ forward_headers: null })).toEqual({ forward_headers: [] });
});

test('a backend fills every field of its form but the headers', () => {
  const fields = asFields(backend) as Record<string, unknown>;
  const empty = BACKEND_FIELDS.filter(({ name }) => fields[name] === undefined).map(({ name }) => name);
  expect(empty).toEqual(['headers']);
});

test('those of the environment stand behind the stored ones, and cannot be opened', () => {
  const fixed = { ...backend, name: 'py', cache: { enabled: false, ttl_seconds: null } };
  const sums = [{ group: 'infer:rerank', requests: 5, success: 3, failures: 1, failure_rate: 0.25 } as ErrorBucket];
  const lines = prepareBackends({ stored: [backend], fixed: [fixed], sums, paused: new Set(['infer:rerank']) });
  expect(lines.map((line) => [line.name, line.caches, line.stored?.id, line.requests, line.failed])).toEqual([
    ['rerank', 'on, 30 s', 'a', 5, '1 (25.0 % of 4 answered or failed)'],
    ['py', 'off', undefined, 0, '–'],
  ]);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(2);
  const [unknown] = prepareBackends({ stored: [backend], fixed: [], sums: undefined, paused: new Set() });
  expect([lines[0]?.state.label, unknown?.state.label]).toEqual(['paused', 'active']);
  expect([unknown?.requests, unknown?.failureRate]).toEqual([null, null]);
});
