import { z } from '@hono/zod-openapi';
import { parseUsd } from '@llm0/core/pricing/format-usd';
import type { Page } from '@llm0/drizzle/queries/page';
import { plainDecimal } from './json-money';

const POSTGRES_INTEGER_MAX = 2_147_483_647;
const MAX_NAME_LENGTH = 200;

/** Text that Postgres and JSON can hold. */
export const text = (maxLength = MAX_NAME_LENGTH) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must have at most ${maxLength} characters`)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be well-formed text without NUL');

export const count = (min = 1, max = POSTGRES_INTEGER_MAX) =>
  z
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

export const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be 1 to 40 lower-case letters, digits and hyphens, beginning with a letter');

const MAX_PROVIDERS = 100;

/** Providers with native APIs enabled. */
export const passthrough = z
  .array(providerName)
  .max(MAX_PROVIDERS, `must have at most ${MAX_PROVIDERS} providers`)
  .transform((names) => [...new Set(names)]);

/** Providers that may answer, and backends as `infer:<name>`. */
export const providerList = z
  .array(z.union([providerName, z.string().regex(/^infer:[a-z0-9_-]{1,32}$/)], 'must be a provider or infer:<backend>'))
  .min(1, 'must name at least one provider; null allows every provider')
  .max(MAX_PROVIDERS, `must have at most ${MAX_PROVIDERS} providers`)
  .transform((names) => [...new Set(names)]);

const MAX_TOOL_PATTERNS = 1000;
const MAX_TOOL_PATTERN_LENGTH = 200;

/** MCP tools by name, `*` for any characters. */
export const toolPatterns = z
  .array(text(MAX_TOOL_PATTERN_LENGTH).regex(/^\S+$/, 'must have no spaces; write alias__tool, * for any characters'))
  .max(MAX_TOOL_PATTERNS, `must have at most ${MAX_TOOL_PATTERNS} tools`)
  .transform((names) => [...new Set(names)]);

const MAX_LABELS = 16;

export const labelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be 1 to 63 lower-case letters, digits, ".", "_" or "-"');

/** Cost labels; names match those in `X-LLM0-*` headers. */
export const labels = z
  .record(labelName, text(256))
  .refine((all) => Object.keys(all).length <= MAX_LABELS, `must have at most ${MAX_LABELS} labels`)
  .transform((all) => (Object.keys(all).length === 0 ? null : all));

/** Account of a team or project in the books of finance. */
export const costCenter = text(100);

/** A UUID of any version. */
export const id = z.guid('must be a UUID');

export const MAX_PROJECTS = 20_000;

/** `project_id` of lists: one project, or several by repeating it. */
export const projectIds = z
  .union([id, z.array(id).max(MAX_PROJECTS)], 'must be a UUID')
  .optional()
  .openapi({ type: 'string', format: 'uuid', description: 'Project; repeat it for several' });

/** USD in, as number or text with at most 9 decimals → integer nano-USD. */
export const usd = z
  .union([z.number(), z.string()])
  .transform((value, context) => {
    const nanoUsd = parseUsd(plainDecimal(String(value)));
    if (nanoUsd !== undefined && nanoUsd >= 0) return nanoUsd + 0;
    context.addIssue({ code: 'custom', message: 'must be an amount in USD from 0 to 9000000, at most 9 decimals' });
    return z.NEVER;
  })
  .openapi({
    type: 'number',
    minimum: 0,
    maximum: 9_000_000,
    description: 'USD, at most 9 decimals; a string works too',
  });
/** A manual OpenAPI type lacks null, so it is listed. */
export const usdOrNull = usd.nullish().openapi({ type: ['number', 'null'] });

/** Budgets of projects and keys beside their cap. */
export const periodBudgets = {
  daily_budget_usd: usdOrNull.openapi({ description: 'USD per UTC day; null = none' }),
  weekly_budget_usd: usdOrNull.openapi({ description: 'USD per week from Monday, UTC; null = none' }),
};

/** Budgets of a key's runs. */
export const runBudgets = {
  max_run_budget_usd: usdOrNull.openapi({ description: 'Most that a run of the key may have; null = any amount' }),
  default_run_budget_usd: usdOrNull.openapi({
    description: 'Budget of a run that names none; null = none',
  }),
};

/** USD out: an exact JSON number. */
export const usdShown = z.number().openapi({ description: 'USD, exact, at most 9 decimals' });

export const runBudgetsShown = { max_run_budget_usd: usdShown.nullable(), default_run_budget_usd: usdShown.nullable() };
export const periodBudgetsShown = { daily_budget_usd: usdShown.nullable(), weekly_budget_usd: usdShown.nullable() };

/** RFC 3339 with an offset → epoch milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, error: 'must be a time in RFC 3339 such as 2026-01-31T00:00:00Z' })
  .transform((value) => Date.parse(value))
  .openapi({ type: 'string', format: 'date-time' });
export const instantOrNull = instant.nullish().openapi({ type: ['string', 'null'] });

/** A time in a query: RFC 3339 (its `+` may have become a space) or a UTC day → epoch milliseconds. */
export const queryInstant = z
  .string()
  .transform((value, context) => {
    const ms = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d))?$/i.test(value.replace(' ', '+'))
      ? Date.parse(value.replace(' ', '+'))
      : Number.NaN;
    if (Number.isFinite(ms)) return ms;
    context.addIssue({ code: 'custom', message: 'must be a time in RFC 3339 such as 2026-01-31T00:00:00Z' });
    return z.NEVER;
  })
  .openapi({ type: 'string', format: 'date-time' });

/** RFC 3339 UTC out. */
export const instantShown = z.string().openapi({ format: 'date-time' });

/** Whole or fractional numbers in a query. */
export const queryNumber = (min = 0) =>
  z
    .string()
    .regex(/^\d+(?:\.\d+)?$/, 'must be a number')
    .transform(Number)
    .refine((value) => value >= min, `must be at least ${min}`)
    .openapi({ type: 'number', minimum: min });

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/** `?limit&cursor` of every list. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= MAX_PAGE_SIZE, `must be from 1 to ${MAX_PAGE_SIZE}`)
    .default(DEFAULT_PAGE_SIZE)
    .openapi({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  cursor: z.string().max(500).optional().openapi({ description: '`next_cursor` of the previous page' }),
};

/** A list as every list route answers it. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() });

export function showPage<T, S>(page: Page<T>, show: (item: T) => S): { data: S[]; next_cursor: string | null } {
  return { data: page.data.map(show), next_cursor: page.nextCursor };
}

const MAX_MODELS = 1000;

/** Models that may be called: exact names, or a beginning and `*`. */
export const modelList = z
  .array(text())
  .min(1, 'must name at least one model; null allows every model')
  .max(MAX_MODELS, `must have at most ${MAX_MODELS} models`);
