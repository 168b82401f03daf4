import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { type LevelOwner, type RaisedVersions, raiseLevel } from '@llm0/drizzle/queries/access/levels';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import {
  count,
  modelList,
  passthrough,
  periodBudgets,
  periodBudgetsShown,
  providerList,
  toolPatterns,
  usdOrNull,
  usdShown,
} from '../fields/fields';
import { type RuleNeeds, refuseRules } from '../guardrails/refuse-rules';
import { guardrailRules, ruleSchema, showRule } from '../guardrails/schema';

/** Limits of an organization, a team or a user: for all requests below it. */
export const levelLimits = {
  ...periodBudgets,
  rate_limit_per_minute: count()
    .nullish()
    .openapi({ description: 'Requests a minute of everything below together; null = any number' }),
  tokens_per_minute: count().nullish().openapi({ description: 'Tokens a minute of everything below together' }),
  monthly_cap_usd: usdOrNull.openapi({ description: 'USD per UTC month; null = none' }),
  allowed_models: modelList
    .nullish()
    .openapi({ description: 'Models that everything below may call; null = every model' }),
  allowed_providers: providerList
    .nullish()
    .openapi({ description: 'Providers that may answer for everything below; null = every provider' }),
  passthrough: passthrough.nullish().openapi({
    description: 'Providers whose native APIs everything below may use at most; null = those of projects and keys',
  }),
  allowed_tools: toolPatterns.nullish().openapi({
    description: 'MCP tools that everything below may call at most; null = those of projects and keys',
  }),
  guardrail_rules: guardrailRules.nullish().openapi({
    description: 'Enforced for everything below, in addition to its own; named "team/<name>" in logs',
  }),
};
export const levelLimitsShown = {
  ...periodBudgetsShown,
  rate_limit_per_minute: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
  monthly_cap_usd: usdShown.nullable(),
  allowed_models: z.array(z.string()).nullable(),
  allowed_providers: z.array(z.string()).nullable(),
  passthrough: z.array(z.string()).nullable(),
  allowed_tools: z.array(z.string()).nullable(),
  guardrail_rules: z.array(ruleSchema).nullable(),
};

/** A level with its rules as the API shows them. */
export const asLevel = <L extends { readonly guardrailRules: readonly GuardrailRule[] | null }>(level: L) => ({
  ...{ ...level, guardrailRules: level.guardrailRules?.map(showRule) ?? null },
});

/** Limits with one counter for several projects. */
const SHARED = [
  ...(['dailyBudgetNanoUsd', 'weeklyBudgetNanoUsd', 'monthlyCapNanoUsd'] as const),
  ...(['rateLimitPerMinute', 'tokensPerMinute'] as const),
] as const;
const LISTS = ['allowedModels', 'allowedProviders', 'passthrough', 'allowedTools'] as const;
export type LevelFields = { readonly [F in (typeof SHARED)[number]]?: number | null | undefined } & {
  readonly [F in (typeof LISTS)[number]]?: readonly string[] | null | undefined;
} & { readonly guardrailRules?: readonly GuardrailRule[] | null | undefined };

const sets = (fields: LevelFields) =>
  [...SHARED, ...LISTS, 'guardrailRules' as const].some((name) => fields[name] !== undefined);

/** Rules of a level belong to no project: they know the aliases and prices that all have. */
const NO_PROJECT = { id: '', unknownModelPolicy: null };

/** Throws `invalid_request` for rules that can't be asked. */
export async function refuseLevelRules(services: RuleNeeds, { guardrailRules: rules }: LevelFields): Promise<void> {
  if (rules == null || rules.length === 0) return;
  await refuseRules(services, { rules, project: NO_PROJECT, field: 'guardrail_rules' });
}

/** Changes of levels' limits, in force with the next request of everything below. */
export class LevelLimits {
  constructor(
    private readonly hotStore: Pick<HotStore, 'holdsLevels' | 'setVersions'>,
    private readonly mirror: HotStoreMirror,
  ) {}

  /** Call before the row is written: returns what is to be brought into force after the commit. */
  async raise(tx: Db, owner: LevelOwner, fields: LevelFields): Promise<readonly RaisedVersions[]> {
    if (!sets(fields)) return [];
    this.refuseOnShards(fields);
    return raiseLevel(tx, owner, 1);
  }

  /** A limit of several projects needs all their counters in one place. */
  refuseOnShards(fields: LevelFields): void {
    if (this.hotStore.holdsLevels || SHARED.every((name) => fields[name] == null)) return;
    throw invalidRequest(
      'monthly_cap_usd',
      'A Redis cluster spreads projects over its nodes and cannot hold a limit of several projects. Use one Redis.',
    );
  }

  /** Nobody sets the limits of what they administer: `holdsAbove` is true for admins of the level above. */
  refuseOwn(fields: LevelFields, holdsAbove: boolean): void {
    if (holdsAbove || !sets(fields)) return;
    const message = 'Only an admin of the level above can change these limits: of the organization, or of the system.';
    throw new GatewayError('permission_denied', message);
  }

  async bringIntoForce(owner: LevelOwner, raised: readonly RaisedVersions[]): Promise<void> {
    if (raised.length === 0) return;
    await this.mirror.apply(`limits of ${owner.scope} ${owner.levelId}`, async () => {
      for (const { projectId, projectVersion, keys } of raised) {
        await this.hotStore.setVersions(projectId, projectVersion, keys);
      }
    });
  }
}
