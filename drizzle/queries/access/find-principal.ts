// Without Postgres, the look-up throws; the key cache serves its entries.
import type { GuardrailPolicy, GuardrailRule } from '@llm0/core/guardrails/policy';
import type { ApiKey, Lists, Project } from '@llm0/core/keys/api-key';
import type { LabelBudget, Level } from '@llm0/core/limits/budgets';
import type { LevelBudgets, TeamShare } from '@llm0/core/limits/compile-budgets';
import type { SetLevelLimits } from '@llm0/core/limits/level-limits';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { apiKeys } from '../../schema/api-keys';
import { guardrails } from '../../schema/guardrails';
import { labelBudgets } from '../../schema/label-budgets';
import { projects } from '../../schema/projects';
import { organizations, teams, users } from '../../schema/teams';
import { parseJson } from '../parse-json';
import { keyRows } from './api-keys';
import { POLICY_COLUMNS } from './guardrails';
import { MAY_USE } from './may-use';
import { projectRows } from './projects';

/** Key and project as they are stored, with the project's guardrails (null = none was ever saved). */
export interface StoredPrincipal {
  readonly key: ApiKey;
  readonly project: Project;
  readonly policy: GuardrailPolicy | null;
  /** Secret for the project's pseudonyms. */
  readonly pseudonymSecret: string;
  readonly labelBudgets: readonly LabelBudget[];
  /** Organization, team and user. */
  readonly levels: readonly (LevelBudgets & SetLevelLimits)[];
  /** Parts of the team's monthly budget. */
  readonly shares: readonly TeamShare[];
  /** Guardrails of organization, team and user, named by their level. */
  readonly levelRules: readonly GuardrailRule[];
  /** Only of a replaced secret: it works until then. */
  readonly secretEndsMs?: number;
}

/**
 * Key and project in one query, by lower-case hex SHA-256 of the secret. Includes revoked, deleted and inactive ones
 * (`isActive` false), so that the caller can explain. A replaced secret finds its key too, with its end. null = unknown.
 */
export function findPrincipalByHash(db: Db, hash: string): Promise<StoredPrincipal | null> {
  return find(db, sql`(${apiKeys.hash} = ${hash} or ${apiKeys.previousHash} = ${hash})`, hash);
}

export function findPrincipalByKeyId(db: Db, keyId: string): Promise<StoredPrincipal | null> {
  return find(db, eq(apiKeys.id, keyId));
}

/** In the same query: most projects have none. */
const BUDGETS_OF_LABELS = sql<readonly LabelBudget[]>`coalesce((
  select json_agg(json_build_array(b.label, b.value, b.daily_usd::text, b.weekly_usd::text, b.monthly_usd::text))
  from ${labelBudgets} b where b.project_id = ${projects.id}), '[]'::json)`.mapWith(toLabelBudgets);

/** In the same query: few set a limit. */
const LEVELS = sql<StoredPrincipal['levels']>`coalesce((
  select json_agg(json_build_array(b.level, b.id, b.version, b.daily_budget_usd::text, b.weekly_budget_usd::text,
    b.monthly_cap_usd::text, b.rate_limit_per_minute, b.tokens_per_minute) order by b.place)
  from (
    select 1 as place, 'organization' as level, o.id, o.version, o.daily_budget_usd, o.weekly_budget_usd, o.monthly_cap_usd,
      o.rate_limit_per_minute, o.tokens_per_minute
      from ${teams} t join ${organizations} o on o.id = t.organization_id where t.id = ${projects.teamId}
    union all select 2, 'team', t.id, t.version, t.daily_budget_usd, t.weekly_budget_usd, t.monthly_cap_usd,
      t.rate_limit_per_minute, t.tokens_per_minute
      from ${teams} t where t.id = ${projects.teamId}
    union all select 3, 'user', u.id, u.version, u.daily_budget_usd, u.weekly_budget_usd, u.monthly_cap_usd,
      u.rate_limit_per_minute, u.tokens_per_minute
      from ${users} u where u.id = ${apiKeys.userId}
  ) as b), '[]'::json)`.mapWith(toLevels);

/** In the same query: few teams split their budget. */
const SHARES = sql<readonly TeamShare[]>`coalesce((
  select json_agg(json_build_array(s.id, s.team_share_usd::text, s.team_overdraft) order by s.id) from ${projects} s
  where s.team_id = ${projects.teamId} and s.team_share_usd is not null and s.deleted_at is null), '[]'::json)`.mapWith(
  (json: unknown) =>
    (parseJson(json) as readonly (readonly [id: string, usd: string, hasOverdraft: boolean])[]).map(
      ([projectId, usd, hasOverdraft]) => ({ projectId, shareNanoUsd: nanoFromUsd(usd), hasOverdraft }),
    ),
);

type LabelRow = readonly [label: string, value: string, daily: Usd, weekly: Usd, monthly: Usd];
type Usd = string | null;

const nano = (usd: Usd) => (usd === null ? null : nanoFromUsd(usd));

function toLabelBudgets(json: unknown): readonly LabelBudget[] {
  return (parseJson(json) as readonly LabelRow[]).map(([label, value, daily, weekly, monthly]) => ({
    ...{ label, value, dailyNanoUsd: nano(daily), weeklyNanoUsd: nano(weekly), monthlyNanoUsd: nano(monthly) },
  }));
}

type LevelRow = readonly [
  ...[level: Level, id: string, version: number, daily: Usd, weekly: Usd, monthly: Usd],
  ...[requests: number | null, tokens: number | null],
];

function toLevels(json: unknown): StoredPrincipal['levels'] {
  const rows = parseJson(json) as readonly LevelRow[];
  return rows.map(([level, id, version, daily, weekly, monthly, rateLimitPerMinute, tokensPerMinute]) => ({
    ...{ level, id, version, dailyBudgetNanoUsd: nano(daily), weeklyBudgetNanoUsd: nano(weekly) },
    ...{ monthlyCapNanoUsd: nano(monthly), rateLimitPerMinute, tokensPerMinute },
  }));
}

/** What a level, or the project, permits at most. */
interface LevelLists {
  readonly level: Level | 'project';
  readonly models: readonly string[] | null;
  readonly providers: readonly string[] | null;
  readonly passthrough: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly rules: readonly GuardrailRule[] | null;
}

const LIST_COLUMNS = [
  ...['allowed_models as models', 'allowed_providers as providers'],
  ...['passthrough', 'allowed_tools as tools', 'guardrail_rules as rules'],
];

const listsOf = (level: Level, table: string) =>
  sql`select ${sql.raw(`'${level}'`)} as level, ${sql.raw(
    LIST_COLUMNS.map((column) => `${table}.${column}`).join(', '),
  )}`;

/** In the same query: few set a list. The widest level comes first. */
const LISTS_ABOVE = sql<readonly LevelLists[]>`coalesce((select json_agg(l) from (
    ${listsOf('organization', 'o')} from ${teams} t join ${organizations} o on o.id = t.organization_id
      where t.id = ${projects.teamId}
    union all ${listsOf('team', 't')} from ${teams} t where t.id = ${projects.teamId}
    union all ${listsOf('user', 'u')} from ${users} u where u.id = ${apiKeys.userId}
    union all select 'project', ${projects.allowedModels}, ${projects.allowedProviders}, null, null, null
  ) as l where coalesce(l.models, l.providers, l.passthrough, l.tools, l.rules) is not null), '[]'::json)`.mapWith(
  (json: unknown) => parseJson(json) as readonly LevelLists[],
);

type ListsAbove = 'modelsAbove' | 'modelsOfLevels' | 'providersAbove' | 'passthroughAbove' | 'toolsAbove';

/** The lists of a key's levels by their names on the request path; empty without any. */
function namedLists(above: readonly LevelLists[]): Pick<ApiKey, ListsAbove> {
  const listed = (name: 'models' | 'passthrough' | 'tools', from = above): Lists =>
    from.flatMap((one) => (one[name] === null ? [] : [one[name]]));
  const named = {
    modelsAbove: listed('models'),
    modelsOfLevels: listed(
      'models',
      above.filter(({ level }) => level !== 'project'),
    ),
    providersAbove: above.flatMap(({ level, providers }) => (providers === null ? [] : [{ level, providers }])),
    passthroughAbove: listed('passthrough'),
    toolsAbove: listed('tools'),
  };
  return Object.fromEntries(Object.entries(named).filter(([, lists]) => lists.length > 0));
}

/** A level's rule never has the name of a project's. */
const namedRules = (above: readonly LevelLists[]): readonly GuardrailRule[] =>
  above.flatMap(({ level, rules }) => (rules ?? []).map((rule) => ({ ...rule, name: `${level}/${rule.name}` })));

async function find(db: Db, condition: SQL, hash?: string): Promise<StoredPrincipal | null> {
  const isInForce = and(eq(guardrails.projectId, projects.id), eq(guardrails.version, projects.guardrailsVersion));
  const [row] = await db
    .select({
      key: keyRows.columns,
      project: projectRows.columns,
      policy: POLICY_COLUMNS,
      pseudonymSecret: projects.pseudonymSecret,
      labelBudgets: BUDGETS_OF_LABELS,
      levels: LEVELS,
      shares: SHARES,
      above: LISTS_ABOVE,
      hash: apiKeys.hash,
      mayUse: MAY_USE,
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.projectId))
    .leftJoin(guardrails, isInForce)
    .where(condition);
  if (row === undefined) return null;
  const { hash: current, mayUse, above, ...read } = row;
  const key = { ...read.key, ...(!mayUse && { isOwnerOut: true }), ...namedLists(above) };
  const found = { ...read, key, levelRules: namedRules(above) };
  const isPrevious = hash !== undefined && hash !== current;
  return isPrevious ? { ...found, secretEndsMs: found.key.previousSecretExpiresAtMs ?? 0 } : found;
}
