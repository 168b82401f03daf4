import { z } from '@hono/zod-openapi';
import { STRATEGIES } from '@llm0/core/routing/alias';
import type { RoutingTables } from '@llm0/core/routing/routing-tables';
import { type StoredAlias, targetsOf } from '@llm0/drizzle/queries/routing/aliases';
import { count, id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { hedgeAfterMs, modelName, showTarget, targetShown } from './target-schema';

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
  })
  .openapi('AliasTarget');

const settings = {
  targets: z.array(target).min(1, 'must have at least one target').max(MAX_TARGETS).refine(hasNoDoubles, {
    message: 'must name each target once',
  }),
  strategy: z.enum(STRATEGIES).optional().openapi({
    default: 'priority',
    description: 'The order in which several targets are tried',
  }),
  hedge_after_ms: hedgeAfterMs,
  session_affinity: z.boolean().optional().openapi({
    default: true,
    description: 'Conversations stay with the target whose prompt cache is warm',
  }),
};

export const newAliasSchema = z
  .strictObject({
    alias: modelName.openapi({ description: 'The model name clients send' }),
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
    targets: z.array(targetShown.extend({ weight: z.int() })),
    strategy: z.enum(STRATEGIES),
    hedge_after_ms: z.int().nullable(),
    session_affinity: z.boolean(),
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
    targets: targetsOf(alias).map((one) => showTarget(one, tables)),
  });
