import { z } from '@hono/zod-openapi';
import { STRATEGIES } from '@llm0/core/routing/alias';
import { FAILOVER_SETTINGS } from '@llm0/core/routing/failover-mode';
import type { RoutingTables } from '@llm0/core/routing/routing-tables';
import type { StoredAlias } from '@llm0/drizzle/queries/routing/aliases';
import { count, id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { hedgeAfterMs, modelName, showTarget, targetShown, timeouts, timeoutsShown } from './target-schema';

const MAX_TARGETS = 20;
const DEFAULT_WEIGHT = 1;
const MAX_WEIGHT = 1_000_000;

const target = z
  .strictObject({
    provider: text(),
    model: modelName,
    weight: count(0, MAX_WEIGHT).optional().openapi({
      description: 'Share of the requests with the strategy `weighted`; 0 = only when the others fail',
      default: DEFAULT_WEIGHT,
    }),
    ...timeouts,
  })
  .openapi('AliasTarget');

const settings = {
  targets: z.array(target).min(1, 'must have at least one target').max(MAX_TARGETS).refine(hasNoDoubles, {
    message: 'must name each target once',
  }),
  strategy: z.enum(STRATEGIES).optional().openapi({
    default: 'priority',
    description: 'Order of the targets',
  }),
  hedge_after_ms: hedgeAfterMs,
  session_affinity: z.boolean().optional().openapi({
    default: true,
    description: 'Keeps a conversation on the target that has its prompt cached',
  }),
  failover: z.enum(FAILOVER_SETTINGS).nullish().openapi({
    description: 'on: the chains of its targets follow; off: only one target is tried; null = its targets',
  }),
  retry_timeouts: z.boolean().optional().openapi({
    default: false,
    description: 'Try the next target after a time-out of a plain answer; the provider may bill both',
  }),
};

export const newAliasSchema = z
  .strictObject({
    alias: modelName.openapi({ description: 'Model name in requests' }),
    project_id: id.nullish().openapi({ description: 'null = for every project' }),
    ...settings,
  })
  .openapi('NewAlias');

export const aliasChangesSchema = z
  .strictObject({ ...settings, targets: settings.targets.optional() })
  .openapi('AliasChanges');

export const aliasSchema = z
  .object({
    id,
    alias: z.string(),
    project_id: id.nullable(),
    targets: z.array(targetShown.extend({ weight: z.int(), ...timeoutsShown })),
    strategy: z.enum(STRATEGIES),
    hedge_after_ms: z.int().nullable(),
    session_affinity: z.boolean(),
    failover: z.enum(FAILOVER_SETTINGS).nullable(),
    retry_timeouts: z.boolean(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('Alias');

function hasNoDoubles(targets: readonly { provider: string; model: string }[]): boolean {
  return new Set(targets.map(({ provider, model }) => `${provider}/${model}`)).size === targets.length;
}

export const showAlias = (alias: StoredAlias, tables: RoutingTables) =>
  showFields(aliasSchema, {
    ...alias,
    hedgeAfterMs: alias.options.hedge_after_ms,
    sessionAffinity: alias.options.session_affinity ?? true,
    failover: alias.options.failover,
    retryTimeouts: alias.options.retry_timeouts ?? false,
    targets: alias.targets.map(({ provider, model, weight = DEFAULT_WEIGHT, ...own }) => ({
      ...showTarget({ provider, model }, tables),
      ...{
        weight,
        request_timeout_ms: own.request_timeout_ms ?? null,
        answer_timeout_ms: own.answer_timeout_ms ?? null,
      },
    })),
  });
