import { z } from '@hono/zod-openapi';
import { type Chain, TIERS } from '@llm0/core/routing/chain';
import type { RoutingTables } from '@llm0/core/routing/routing-tables';
import { hedgeAfterMs, modelName, showTarget, targetShown } from '../aliases/target-schema';
import { instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const MAX_STEPS = 20;
const MAX_PATTERNS = 100;

export const chainName = text(100);

const step = z
  .strictObject({
    provider: text(),
    model: modelName,
    matches: z
      .array(modelName)
      .max(MAX_PATTERNS)
      .optional()
      .openapi({
        description:
          'Model names of this provider that take this place, without dates, `-preview` and `-latest`; `*` stands for ' +
          'any characters, the longest match of all chains wins. Left out: the model itself',
      }),
  })
  .openapi('ChainStep');

export const chainBodySchema = z
  .strictObject({
    targets: z.array(step).max(MAX_STEPS).openapi({
      description: 'Fallback order after the requested model. With a single target its models have no fallback',
    }),
    local_tier: z
      .enum(TIERS)
      .nullish()
      .openapi({ description: 'Tier of the OLLAMA_MODEL_… that ends the chain; null = none' }),
    hedge_after_ms: hedgeAfterMs,
  })
  .openapi('ChainInput');

export const chainSchema = z
  .object({
    name: z.string(),
    targets: z.array(targetShown.extend({ matches: z.array(z.string()) })),
    local_tier: z.enum(TIERS).nullable(),
    hedge_after_ms: z.int().nullable(),
    is_preset: z.boolean(),
    edited: z.boolean().openapi({ description: 'Edited by an operator; deleting it restores the preset' }),
    updated_at: instantShown.nullable(),
  })
  .openapi('Chain');

export const toChain = (name: string, body: z.output<typeof chainBodySchema>): Chain => ({
  name,
  localTier: body.local_tier ?? null,
  hedgeAfterMs: body.hedge_after_ms ?? undefined,
  steps: body.targets.map(({ provider, model, matches = [model] }) => ({ provider, model, matches })),
});

/** A chain with its origin; `updatedAtMs` null = bundled. */
export interface ShownChain extends Chain {
  readonly isPreset: boolean;
  readonly updatedAtMs: number | null;
}

export const showChain = (chain: ShownChain, tables: RoutingTables) =>
  showFields(chainSchema, {
    ...chain,
    targets: chain.steps.map(({ provider, model, matches }) =>
      showTarget({ provider, model, matches: [...matches] }, tables),
    ),
    hedgeAfterMs: chain.hedgeAfterMs,
    edited: chain.updatedAtMs !== null,
  });
