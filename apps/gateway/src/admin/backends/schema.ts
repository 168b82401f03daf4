import { z } from '@hono/zod-openapi';
import { BACKEND_DEFAULTS, BACKEND_NAME, RESERVED_BACKEND_NAMES } from '@llm0/core/backends/backend';
import type { StoredBackend } from '@llm0/drizzle/queries/routing/backends';
import { count, id, instantShown, text, usd, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { headerName, headers, url } from '../providers/schema';

const MAX_TIMEOUT_MS = 600_000;
const MIN_TIMEOUT_MS = 100;
const MAX_RETRIES = 5;
const MAX_TTL_SECONDS = 31_536_000;
const MAX_PATH = 500;
const MAX_FORWARDED = 32;
/** Headers that hold credentials, control the gateway or belong to one connection. */
const NEVER_FORWARDED =
  /^(authorization|x-api-key|api-key|x-goog-api-key|cookie2?|x-request-id|x-llm0-.*|traceparent|tracestate|idempotency-key)$/i;

const name = z
  .string()
  .regex(BACKEND_NAME, 'must be 1 to 32 lower-case letters, digits, hyphens and underlines')
  .refine((value) => !RESERVED_BACKEND_NAMES.has(value), 'is the name of something else here')
  .openapi({ description: 'Callers reach it at /infer/<name>/…' });

const cache = z
  .strictObject({
    enabled: z.boolean().optional().openapi({ default: true }),
    ttl_seconds: count(1, MAX_TTL_SECONDS).nullish().openapi({
      description: 'Lifetime of answers without cache headers; null = CACHE_TTL',
    }),
  })
  .openapi({ description: 'Cache of GET answers, by project and by the rules of HTTP' });

const forwardHeaders = z
  .array(headerName.refine((value) => !NEVER_FORWARDED.test(value), 'is a header that is for the gateway alone'))
  .max(MAX_FORWARDED)
  .openapi({
    description: 'Further request headers that the gateway forwards, such as X-Tenant; null = none',
  });

const settings = {
  headers: headers.nullish(),
  forward_headers: forwardHeaders.nullish(),
  price_per_request_usd: usd.optional().openapi({ default: 0 }),
  timeout_ms: count(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS).optional().openapi({
    default: BACKEND_DEFAULTS.timeoutMs,
    description: 'Time until the response headers; for a declared length of at most 64 KiB, until the end',
  }),
  retries: count(0, MAX_RETRIES)
    .optional()
    .openapi({ default: BACKEND_DEFAULTS.retries, description: 'Retries of safe requests' }),
  cache: cache.optional(),
  is_active: z.boolean().optional(),
};

export const newBackendSchema = z.strictObject({ name, url, ...settings }).openapi('NewBackend');
export const backendChangesSchema = z.strictObject({ url: url.optional(), ...settings }).openapi('BackendChanges');

const shown = {
  name: z.string(),
  url: z.string(),
  forward_headers: z.array(z.string()),
  price_per_request_usd: usdShown,
  timeout_ms: z.int(),
  retries: z.int(),
  cache: z.object({ enabled: z.boolean(), ttl_seconds: z.int().nullable() }),
  is_active: z.boolean(),
};

export const backendSchema = z
  .object({ id, ...shown, header_names: z.array(z.string()), created_at: instantShown, updated_at: instantShown })
  .openapi('Backend');

export const backendPage = z.object({
  data: z.array(backendSchema),
  next_cursor: z.string().nullable(),
  environment: z
    .array(z.object(shown).openapi('EnvironmentBackend'))
    .openapi({ description: 'Backends of the environment (BACKEND_<NAME>_URL); change them there' }),
});

export const testSchema = z.strictObject({
  path: text(MAX_PATH)
    .refine((value) => value.startsWith('/'), 'must begin with a slash')
    .optional()
    .openapi({ default: '/healthz' }),
});

export const testedSchema = z
  .object({
    ok: z.boolean().openapi({ description: 'The backend answered with a status below 500' }),
    status: z.int().nullable(),
    latency_ms: z.number().nullable(),
    error: z.string().nullable(),
  })
  .openapi('BackendTest');

export const showBackend = (row: StoredBackend) =>
  showFields(backendSchema, { ...row, cache: { enabled: row.cacheEnabled, ttl_seconds: row.cacheTtlSeconds } });
