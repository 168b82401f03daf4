import { expect, test } from 'bun:test';
import { z } from '@hono/zod-openapi';
import { readFields, showFields } from './map-fields';

const schema = z.object({
  id: z.string(),
  is_active: z.boolean(),
  cap_usd: z.number().nullable(),
  created_at: z.string(),
  deleted_at: z.string().nullable(),
  latency_ms: z.number(),
  names: z.array(z.string()),
});

test('stored things are shown by the names and units of the schema, in its order', () => {
  const stored = { names: ['a'], id: 'x', isActive: true, capNanoUsd: 1, createdAtMs: 0, latencyMs: 1.23456 };
  const text = JSON.stringify(showFields(schema, { ...stored, deletedAtMs: undefined }));
  expect(text).toBe(
    '{"id":"x","is_active":true,"cap_usd":0.000000001,"created_at":"1970-01-01T00:00:00.000Z","deleted_at":null,' +
      '"latency_ms":1.235,"names":["a"]}',
  );
});

test('zero and null are told apart', () => {
  const stored = { id: 'x', isActive: false, createdAtMs: 0, deletedAtMs: 0, latencyMs: 0, names: [] };
  const shown = showFields(schema, { ...stored, capNanoUsd: null });
  expect([shown.cap_usd, shown.deleted_at, shown.latency_ms]).toEqual([null, '1970-01-01T00:00:00.000Z', 0]);
  expect(JSON.stringify(showFields(schema, { ...stored, capNanoUsd: 0 }).cap_usd)).toBe('0');
});

test('maps sent fields to inner names and omits the others', () => {
  expect(readFields({ cap_usd: 5, expires_at: null, allowed_models: ['a'], rate_limit_per_minute: undefined })).toEqual(
    {
      capNanoUsd: 5,
      expiresAtMs: null,
      allowedModels: ['a'],
      rateLimitPerMinute: undefined,
    },
  );
});
