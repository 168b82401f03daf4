import type { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { newTokenSchema, tokenChangesSchema, tokenSchema } from '../../admin/access/token-schema';
import { alertChangesSchema, alertSchema, newAlertSchema } from '../../admin/alerts/schema';
import { aliasChangesSchema, aliasSchema, newAliasSchema } from '../../admin/aliases/schema';
import { backendChangesSchema, backendSchema, newBackendSchema } from '../../admin/backends/schema';
import { labelBudgetChangesSchema, labelBudgetSchema, ownLabelBudgetSchema } from '../../admin/budgets/label-schema';
import { chainBodySchema, chainSchema } from '../../admin/chains/schema';
import { customerLimitsBodySchema, customerLimitsSchema } from '../../admin/customers/schema';
import { text } from '../../admin/fields/fields';
import { policySchema, shownPolicySchema } from '../../admin/guardrails/schema';
import { keyChangesSchema, keySchema, newKeySchema } from '../../admin/keys/schema';
import { newServerSchema, serverChangesSchema, serverSchema } from '../../admin/mcp/schema';
import { modelBodySchema, modelSchema } from '../../admin/models/schema';
import {
  DEFAULT_OUTPUT_TOKENS,
  newProjectSchema,
  projectChangesSchema,
  projectSchema,
} from '../../admin/projects/schema';
import {
  newProviderKeySchema,
  newProviderSchema,
  providerChangesSchema,
  providerKeyChangesSchema,
  providerKeySchema,
  providerSchema,
} from '../../admin/providers/schema';
import type { SomeSchema } from '../../admin/route-types';
import { newTeamSchema, teamChangesSchema, teamSchema } from '../../admin/teams/schema';
import { isObject } from '../read-list';
import type { SecretParts } from './resolve-references';

/** A kind of resource, by the schemas of the admin API. */
export interface ResourceKind<S = z.ZodType> {
  /** Judges a new one. */
  readonly created: S;
  /** Fields of a change. */
  readonly fields: Readonly<Record<string, S>>;
  readonly shown: Readonly<Record<string, S>>;
  /** PUT replaces all of it, and creates it. */
  readonly isReplaced?: true;
  /** Fields that a new one alone has. */
  readonly createOnly?: readonly string[];
  /** Fields that a new one can't have yet. */
  readonly changeOnly?: readonly string[];
  readonly secrets?: SecretParts;
  /** Secret fields that a new one needs. An existing one keeps its own if the file has none. */
  readonly needs?: readonly string[];
  /** Value of a field that null resets. */
  readonly defaults?: JsonObject;
  /** What the body leads to, given the present state. */
  readonly whole?: (body: JsonObject, shown: JsonObject) => JsonObject;
  /** Fields whose shown value follows another one, by that one: they are sent with it. */
  readonly sentWith?: Readonly<Record<string, readonly string[]>>;
  /** One form of what may be written or shown in several. */
  readonly normal?: (field: string, value: JsonValue) => JsonValue;
}

const filePolicySchema = policySchema.omit({ version: true, holds_streams: true });
const either = 'either' as const;
const reference = 'reference' as const;

/** In the order in which they depend on each other; names as in the audit. */
export const RESOURCE_KINDS = {
  provider: {
    created: newProviderSchema,
    fields: providerChangesSchema.shape,
    shown: providerSchema.shape,
    createOnly: ['kind'],
    secrets: { 'headers.*': either },
    whole: (body) => {
      const { base_url: url, ...rest } = body;
      // null stands for the vendor's address, which is shown.
      return url === null ? rest : body;
    },
    normal: (field, value) => (field === 'models' ? modelsOf(value) : value),
  },
  team: {
    created: newTeamSchema,
    fields: teamChangesSchema.shape,
    shown: teamSchema.shape,
    createOnly: ['organization_id'],
  },
  project: {
    // The file may name its team.
    created: newProjectSchema.extend({ team_id: text().nullish() }),
    fields: projectChangesSchema.shape,
    shown: projectSchema.shape,
    defaults: { default_output_tokens: DEFAULT_OUTPUT_TOKENS },
  },
  provider_key: {
    created: newProviderKeySchema,
    fields: providerKeyChangesSchema.shape,
    shown: providerKeySchema.shape,
    changeOnly: ['is_active'],
    secrets: { key: 'live' },
    needs: ['key'],
  },
  model: {
    created: modelBodySchema,
    fields: modelBodySchema.shape,
    shown: modelSchema.shape,
    isReplaced: true,
    whole: (body, shown) => ({ ...noPrices(shown), ...body }),
  },
  chain: {
    created: chainBodySchema,
    fields: chainBodySchema.shape,
    shown: chainSchema.shape,
    isReplaced: true,
    whole: (body) => ({ local_tier: null, hedge_after_ms: null, ...body }),
    normal: (field, value) =>
      field === 'targets' ? targetsOf(value, ({ model = '' }) => ({ matches: [model] })) : value,
  },
  alias: {
    created: newAliasSchema,
    fields: aliasChangesSchema.shape,
    shown: aliasSchema.shape,
    normal: (field, value) =>
      field === 'targets'
        ? targetsOf(value, () => ({ weight: 1, request_timeout_ms: null, answer_timeout_ms: null }))
        : value,
  },
  mcp_server: {
    created: newServerSchema,
    fields: serverChangesSchema.shape,
    shown: serverSchema.shape,
    createOnly: ['transport', 'approve'],
    secrets: {
      ...{ 'headers.*': either, 'env.*': either },
      ...{ 'auth.token': reference, 'auth.value': reference, 'auth.client_secret': reference },
    },
  },
  backend: {
    created: newBackendSchema,
    fields: backendChangesSchema.shape,
    shown: backendSchema.shape,
    secrets: { 'headers.*': either },
    whole: (body, shown) =>
      isObject(body.cache) && isObject(shown.cache) ? { ...body, cache: { ...shown.cache, ...body.cache } } : body,
  },
  guardrails: {
    created: filePolicySchema,
    fields: filePolicySchema.shape,
    shown: shownPolicySchema.shape,
    isReplaced: true,
    whole: (body) => ({ rules: [], pseudonym_scope: 'request', ...body }),
  },
  customer_limits: {
    created: customerLimitsBodySchema,
    fields: customerLimitsBodySchema.shape,
    shown: customerLimitsSchema.shape,
    isReplaced: true,
    whole: (body) => {
      const none = Object.keys(customerLimitsBodySchema.shape).map((field) => [field, null]);
      return { ...Object.fromEntries(none), on_limit_behavior: 'block', ...body };
    },
    normal: (field, value) => (field === 'model_limits' ? limitsOf(value) : value),
  },
  key: {
    created: newKeySchema,
    fields: keyChangesSchema.shape,
    shown: keySchema.shape,
    changeOnly: ['is_active'],
  },
  label_budget: {
    created: ownLabelBudgetSchema,
    fields: labelBudgetChangesSchema.shape,
    shown: labelBudgetSchema.shape,
    createOnly: ['label', 'value'],
  },
  alert: {
    created: newAlertSchema,
    fields: alertChangesSchema.shape,
    shown: alertSchema.shape,
    secrets: { routing_key: reference, webhook_url: either },
    needs: ['webhook_url'],
  },
  token: {
    created: newTokenSchema,
    fields: tokenChangesSchema.shape,
    shown: tokenSchema.shape,
    sentWith: { role: ['can_read_bodies'] },
    // null stands for what the role allows, which is shown.
    whole: (body, shown) =>
      body.can_read_bodies === null ? { ...body, can_read_bodies: (body.role ?? shown.role) === 'admin' } : body,
  },
} as const satisfies Record<string, ResourceKind<SomeSchema>>;

export type Kind = keyof typeof RESOURCE_KINDS;
/** Cast: the compiler would compare each field of the API with all of `ZodType`. */
export const kindOf = (kind: Kind): ResourceKind => RESOURCE_KINDS[kind] as ResourceKind<SomeSchema> as ResourceKind;
export const KINDS = Object.keys(RESOURCE_KINDS) as readonly Kind[];

/** Top-level fields that hold secrets. */
export const secretFieldsOf = (kind: Kind): readonly string[] => [
  ...new Set(Object.keys(kindOf(kind).secrets ?? {}).map((place) => place.split('.')[0] ?? '')),
];

const PRICE = /_usd(?:_per_million)?$/;
const noPrices = (shown: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys(shown)
      .filter((field) => PRICE.test(field))
      .map((field) => [field, null]),
  );

const SHOWN_ONLY: ReadonlySet<string> = new Set(['is_configured', 'is_priced']);

/** Targets without their state, and with all defaults. */
function targetsOf(value: JsonValue, defaultsOf: (target: JsonObject) => JsonObject): JsonValue {
  if (!Array.isArray(value)) return value;
  return value.map((one) => {
    if (!isObject(one)) return one;
    const set = Object.entries(one).filter(([field]) => !SHOWN_ONLY.has(field));
    return { ...defaultsOf(one), ...Object.fromEntries(set) };
  });
}

/** Models of a provider: what they leave out is not set. */
function modelsOf(value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value;
  return value.map((one) => {
    if (!isObject(one)) return one;
    const set = Object.entries(one).filter(([, field]) => field !== null);
    return { mode: 'chat', capabilities: [], ...Object.fromEntries(set) };
  });
}

/** A model without a limit is as if it were not there. */
function limitsOf(value: JsonValue): JsonValue {
  if (!isObject(value)) return value ?? {};
  return Object.fromEntries(
    Object.entries(value).filter(([, limit]) => isObject(limit) && (limit.requests_per_day ?? null) !== null),
  );
}

/** A stored price as a provider's `models` have it. */
export function priceAsModel(price: JsonObject): JsonObject {
  const kept = ['mode', 'context_window', 'max_output_tokens', 'capabilities'];
  const set = Object.entries(price).filter(
    ([field, value]) => value !== null && (PRICE.test(field) || kept.includes(field)),
  );
  return { model: price.model ?? '', ...Object.fromEntries(set) };
}
