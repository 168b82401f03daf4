import { z } from '@hono/zod-openapi';
import { FAILOVER_SETTINGS } from '@llm0/core/routing/failover-mode';
import type { StoredProject } from '@llm0/drizzle/queries/access/projects';
import {
  costCenter,
  count,
  id,
  instantShown,
  labels,
  modelList,
  passthrough,
  periodBudgets,
  periodBudgetsShown,
  providerList,
  text,
  toolPatterns,
  usdOrNull,
  usdShown,
} from '../fields/fields';
import { readFields, showFields } from '../fields/map-fields';

export const DEFAULT_OUTPUT_TOKENS = 4096;
const DEFAULT_MAX_CUSTOMERS = 100_000;
const MAX_QUEUE_MS = 600_000;

const settings = {
  team_id: id.nullish().openapi({ description: 'Team that owns the project; default: the default team. null = none' }),
  cost_center: costCenter.nullish().openapi({ description: "Cost center in statements; null = the team's" }),
  monthly_cap_usd: usdOrNull.openapi({ description: 'USD per UTC month; null = none' }),
  ...periodBudgets,
  team_share_usd: usdOrNull.openapi({
    description: "Part of its team's monthly budget that is kept for it; null = none",
  }),
  team_overdraft: z.boolean().optional().openapi({
    default: true,
    description: "Beyond its share, it may spend what no share of the team's budget claims",
  }),
  strict_caps: z.boolean().optional(),
  default_output_tokens: count(1, 10_000_000).nullish().openapi({ default: DEFAULT_OUTPUT_TOKENS }),
  cache_enabled: z.boolean().optional().openapi({ default: true }),
  cache_ttl_seconds: count(1, 31_536_000).nullish().openapi({ description: "null = the gateway's setting" }),
  semantic_cache_enabled: z.boolean().optional().openapi({ default: false }),
  semantic_threshold: z.number().min(0).max(1).nullish(),
  semantic_shadow: z.boolean().optional(),
  cache_tool_calls: z.boolean().optional().openapi({ default: false, description: 'Caches answers with tool calls' }),
  share_responses: z.boolean().optional().openapi({
    default: false,
    description: "Keys and customers of the project may read, continue and delete each other's stored responses",
  }),
  drop_params: z
    .boolean()
    .nullish()
    .openapi({ description: "Drops parameters that the provider doesn't support; null = refuses them" }),
  failover: z.enum(FAILOVER_SETTINGS).nullish().openapi({
    description: 'off: only the first target is tried; null = on. Keys and aliases override it',
  }),
  allowed_models: modelList.nullish().openapi({ description: 'Models that its keys may call; null = every model' }),
  allowed_providers: providerList
    .nullish()
    .openapi({ description: 'Providers that may answer for its keys; null = every provider' }),
  passthrough: passthrough.nullish().openapi({ description: 'Providers with pass-through for its keys; null = none' }),
  allowed_tools: toolPatterns.nullish().openapi({
    description: 'Permitted MCP tools of its keys, such as "github__*"; null = none',
  }),
  code_mode: z
    .boolean()
    .optional()
    .openapi({ default: false, description: 'Keys may run scripts over their MCP tools at /mcp/code' }),
  labels: labels
    .nullish()
    .openapi({ description: 'Labels of all its requests, such as {"team": "search"}; null = none' }),
  on_store_failure: z.enum(['closed', 'open']).optional(),
  unknown_model_policy: z.enum(['refuse', 'allow_unpriced']).nullish(),
  max_customers: count(0, 1_000_000_000).nullish().openapi({
    default: DEFAULT_MAX_CUSTOMERS,
    description: 'Different customers per UTC month, not counting those with their own limits; null = any number',
  }),
  queue_timeout_ms: count(1, MAX_QUEUE_MS)
    .nullish()
    .openapi({ description: 'Requests wait this long for rate and concurrency limits; null = 429 at once' }),
  is_active: z.boolean().optional(),
};

export const newProjectSchema = z.strictObject({ name: text(), ...settings }).openapi('NewProject');
export const projectChangesSchema = z.strictObject({ name: text().optional(), ...settings }).openapi('ProjectChanges');

export const projectSchema = z
  .object({
    id,
    name: z.string(),
    team_id: id.nullable(),
    cost_center: z.string().nullable(),
    monthly_cap_usd: usdShown.nullable(),
    ...periodBudgetsShown,
    team_share_usd: usdShown.nullable(),
    team_overdraft: z.boolean(),
    strict_caps: z.boolean(),
    default_output_tokens: z.int(),
    cache_enabled: z.boolean(),
    cache_ttl_seconds: z.int().nullable(),
    semantic_cache_enabled: z.boolean(),
    semantic_threshold: z.number().nullable(),
    semantic_shadow: z.boolean(),
    cache_tool_calls: z.boolean(),
    share_responses: z.boolean(),
    drop_params: z.boolean().nullable(),
    failover: z.enum(FAILOVER_SETTINGS).nullable(),
    allowed_models: z.array(z.string()).nullable(),
    allowed_providers: z.array(z.string()).nullable(),
    passthrough: z.array(z.string()).nullable(),
    allowed_tools: z.array(z.string()).nullable(),
    code_mode: z.boolean(),
    labels: z.record(z.string(), z.string()).nullable(),
    on_store_failure: z.enum(['closed', 'open']),
    unknown_model_policy: z.enum(['refuse', 'allow_unpriced']).nullable(),
    max_customers: z.int().nullable(),
    queue_timeout_ms: z.int().nullable(),
    is_active: z.boolean(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('Project');

/** Fields that were not sent stay undefined: unchanged, or the default. */
export function toProjectSettings<B extends z.output<typeof projectChangesSchema>>(body: B) {
  const { defaultOutputTokens: tokens, ...settings } = readFields(body);
  return { ...settings, defaultOutputTokens: tokens === null ? DEFAULT_OUTPUT_TOKENS : tokens };
}

export const showProject = (project: StoredProject) => showFields(projectSchema, project);
