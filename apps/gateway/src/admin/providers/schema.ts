import { z } from '@hono/zod-openapi';
import { missingPrice, type PricedModel, usualMode } from '@llm0/core/pricing/price-book';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';
import { readPathRule } from '@llm0/providers/path-rules';
import { timeouts, timeoutsShown } from '../aliases/target-schema';
import { count, id, instantShown, pageOf, providerName, text } from '../fields/fields';
import { type InnerOf, showFields } from '../fields/map-fields';
import { showInstant } from '../fields/show-fields';
import { modelBodySchema, toPricedModel } from '../models/schema';

export const url = text(500)
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), 'must be an http(s) URL')
  .refine((value) => {
    const parsed = URL.parse(value);
    return parsed?.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
  }, 'must not hold credentials, a query or a fragment: keys and headers have fields of their own')
  .transform((value) => value.replace(/\/+$/, ''));

/** Write-only: no answer ever shows it. */
export const secret = z
  .string()
  .min(1, 'must not be empty')
  .max(8000, 'must have at most 8000 characters')
  .regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters without spaces')
  .openapi({ writeOnly: true, description: 'Write-only' });

/** A vendor's key; files and variables of the gateway itself are no business of the API. */
const providerSecret = secret
  .refine((text) => !/^(?:env|file):/.test(text), {
    message: 'must be the key or a reference of a secret manager, such as vault:secret/data/openai#key',
  })
  .openapi({
    writeOnly: true,
    description:
      'Write-only; the key, or where it is kept: vault:…, aws-sm:…, gcp-sm:…, identity:aws|azure|gcp|openai|anthropic',
  });

/** Headers that frame the request or come from the key. */
const RESERVED_HEADER =
  /^(?:host|content-length|content-type|transfer-encoding|connection|accept-encoding|expect|upgrade|te|trailer|keep-alive)$/i;
export const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header')
  .refine((name) => !RESERVED_HEADER.test(name), 'is a header that requests need as it is');

export const headers = z
  .record(
    headerName,
    z
      .string()
      .max(4000)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
  )
  .openapi({ writeOnly: true, description: 'Headers of every request; the API returns only names' });

const model = modelBodySchema.extend({ model: text() }).superRefine((body, context) => {
  const prices: Readonly<Record<string, unknown>> = body;
  const given = Object.keys(prices).filter((field) => prices[field] != null);
  const missing = missingPrice(body.mode ?? usualMode(given), (field) => given.includes(field));
  if (missing !== undefined) context.addIssue({ code: 'custom', path: [missing], message: 'is required' });
});
const models = z.array(model).max(500).openapi({ description: 'Models with prices; empty = discover them' });
const options = z.record(z.string().regex(/^[a-zA-Z]{1,40}$/), z.string().max(200));

const passthroughPaths = z
  .array(
    text(300).refine(
      (rule) => readPathRule(rule) !== undefined,
      'must be a method and a path such as "GET /v1/files/*": * matches one part, ** at the end all following parts',
    ),
  )
  .max(200)
  .openapi({
    description: 'Pass-through paths beyond inference: "POST /v1/files", "GET /v1/files/**"',
  });

const LEAST_INTERVAL_MS = 1000;
const MOST_INTERVAL_MS = 3_600_000;
const maxConcurrency = count()
  .nullish()
  .openapi({ description: 'Requests under way at once, split among the processes; null = no limit' });
const MOST_POSITION = 1_000_000;
const position = count(1, MOST_POSITION).nullish().openapi({
  description: 'Place in the order of use, 1 first; null = behind keys with a position, oldest first',
});

export const newProviderSchema = z
  .strictObject({
    name: providerName,
    kind: text().optional().openapi({ description: 'openai-compatible, or the name of a known vendor' }),
    base_url: url.nullish(),
    key: providerSecret.optional(),
    headers: headers.nullish(),
    options: options.nullish(),
    models: models.nullish(),
    passthrough_paths: passthroughPaths.nullish(),
    ...timeouts,
    drain: z
      .boolean()
      .optional()
      .openapi({ description: 'true: requests under way finish, new ones skip this provider' }),
    max_concurrency: maxConcurrency,
    health_check_interval_ms: count(LEAST_INTERVAL_MS, MOST_INTERVAL_MS)
      .nullish()
      .openapi({ description: 'Time between two free questions whether it works; null = none' }),
    is_active: z.boolean().optional(),
  })
  .openapi('NewProvider');

export const providerChangesSchema = newProviderSchema
  .omit({ name: true, kind: true, key: true })
  .openapi('ProviderChanges');

export const providerAddressSchema = z
  .strictObject({
    name: providerName,
    base_url: url.optional(),
    stores_secret: z.boolean().optional().openapi({ description: 'The provider will store a key or headers' }),
  })
  .openapi('ProviderAddress');

export const providerKeySchema = z
  .object({
    id,
    provider: z.string(),
    project_id: id.nullable(),
    name: z.string(),
    last_characters: z.string(),
    is_active: z.boolean(),
    max_concurrency: z.int().nullable(),
    position: z.int().nullable(),
    state: z.enum(['ok', 'resting', 'refused', 'unreadable', 'inactive']).openapi({
      description:
        'State in the answering process: resting after a 429, refused after a 401 until it changes, unreadable if it ' +
        "can't be decrypted or read from its secret manager",
    }),
    encryption_key_id: z.string(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('ProviderKey');

const targetStateSchema = z
  .object({
    model: z.string(),
    state: z.enum(['closed', 'open', 'half_open', 'cooling_down']).openapi({
      description: 'open: not used; half_open: one probe at a time; cooling_down: after a 429',
    }),
    until: instantShown.nullable().openapi({ description: 'Time of the next attempt; null = now' }),
  })
  .openapi('TargetState');

export const providerSchema = z
  .object({
    name: z.string(),
    kind: z.string(),
    base_url: z.string().nullable(),
    is_configured: z.boolean().openapi({ description: 'The provider is configured' }),
    is_free: z.boolean().openapi({ description: 'Runs on your own machines: each of its models has the price 0' }),
    is_stored: z.boolean().openapi({ description: 'Added or configured at run time' }),
    is_active: z.boolean(),
    header_names: z.array(z.string()),
    options: z.record(z.string(), z.string()),
    models: z.array(z.string()),
    passthrough_paths: z.array(z.string()),
    ...timeoutsShown,
    drain: z.boolean(),
    max_concurrency: z.int().nullable(),
    health_check_interval_ms: z.int().nullable(),
    health_check: z.enum(['ok', 'failing']).nullable().openapi({
      description: 'failing: other targets come first until a check goes well; null = no checks',
    }),
    key_problem: z.string().nullable().openapi({
      description: "Why a secret manager or token exchange doesn't give the key now; null = it does",
    }),
    keys: z.array(providerKeySchema),
    targets: z.array(targetStateSchema).openapi({
      description: 'Models that fail, or failed since the answering process started',
    }),
    created_at: instantShown.nullable(),
    updated_at: instantShown.nullable(),
  })
  .openapi('Provider');

export const providerPage = pageOf(providerSchema);
export const providerKeyPage = pageOf(providerKeySchema);

export const newProviderKeySchema = z
  .strictObject({
    key: providerSecret,
    name: text().optional(),
    project_id: id.nullish(),
    max_concurrency: maxConcurrency,
    position,
  })
  .openapi('NewProviderKey');
export const providerKeyChangesSchema = z
  .strictObject({
    key: providerSecret.optional(),
    name: text().optional(),
    max_concurrency: maxConcurrency,
    position,
    is_active: z.boolean().optional(),
  })
  .openapi('ProviderKeyChanges');

export const providerTestSchema = z
  .strictObject({
    model: text().optional().openapi({
      description: 'Requests one word from this model, at a small cost; without it the test lists models, for free',
    }),
    key_id: id.optional(),
    project_id: id.optional(),
  })
  .openapi('ProviderTest');
export const providerTestResultSchema = z
  .object({
    ok: z.boolean(),
    provider: z.string(),
    check: z.enum(['models', 'chat']),
    model: z.string().nullable(),
    http_status: z.number().nullable(),
    latency_ms: z.number(),
    error: z.object({ code: z.string(), failure: z.string().nullable(), message: z.string() }).nullable(),
  })
  .openapi('ProviderTestResult');

type ModelBody = z.infer<typeof model>;

export function toPricedModels(provider: string, bodies: readonly ModelBody[]): PricedModel[] {
  return bodies.map(({ model: name, ...body }) => toPricedModel({ provider, model: name }, body, null));
}

export const showProviderKey = (key: StoredProviderKey, state: z.infer<typeof providerKeySchema>['state']) =>
  showFields(providerKeySchema, { ...key, state });

/** Shows a cool-down if it outlasts the open breaker. */
export function showTargetState(status: TargetStatus, nowMs: number): z.output<typeof targetStateSchema> {
  const { model, mode, openForMs, coolForMs } = status;
  const waitMs = Math.max(openForMs, coolForMs);
  const state = coolForMs > openForMs ? 'cooling_down' : mode;
  return { model, state, until: waitMs > 0 ? showInstant(nowMs + Math.ceil(waitMs)) : null };
}

/** A vendor of which nothing is stored. */
const UNSTORED = {
  isActive: true,
  headerNames: [],
  options: {},
  models: [],
  passthroughPaths: [],
  requestTimeoutMs: null,
  answerTimeoutMs: null,
  drain: false,
  maxConcurrency: null,
  healthCheckIntervalMs: null,
  createdAtMs: null,
  updatedAtMs: null,
};

type ProviderParts = Pick<
  InnerOf<z.output<typeof providerSchema>>,
  'name' | 'kind' | 'baseUrl' | 'isConfigured' | 'isFree' | 'healthCheck' | 'keyProblem' | 'keys' | 'targets'
>;

export const showProvider = (stored: StoredProvider | null, parts: ProviderParts) =>
  showFields(providerSchema, { ...(stored ?? UNSTORED), ...parts, isStored: stored !== null });
