import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-list';
import { type AddNote, asNumber, asText, type PlannedProject } from './import-plan';
import { settingOf } from './plan-aliases';
import type { NamesOfFile } from './read-names';

const KEY_SETTINGS = ['default_key_generate_params', 'upperbound_key_generate_params'] as const;
/** Fields that the import reads from keys. */
export const KEY_FIELDS = [
  ...['max_budget', 'budget_duration', 'rpm_limit', 'tpm_limit', 'max_parallel_requests', 'models'],
] as const;

/**
 * The proxy as a project with one key. LiteLLM sets no request limit and caches nothing by default; neither does the
 * project.
 */
export function planProject(config: JsonObject, names: NamesOfFile, note: AddNote): PlannedProject {
  const settings: JsonObject = {};
  const served: JsonObject = names.all === undefined ? {} : { allowed_models: [...names.all] };
  const key: JsonObject = { rate_limit_per_minute: null, ...served, ...readKey(config, names, note) };
  const budget = readBudget(sectionOf(config, 'litellm_settings'), 'litellm_settings', note);
  if (budget !== undefined && budget.period !== 'total') settings[PROJECT_FIELDS[budget.period]] = budget.usd;
  if (budget?.period === 'total' && key.budget_usd === undefined) Object.assign(key, budgetOf(budget));
  if (settingOf(config, 'drop_params') === true) settings.drop_params = true;
  const cache = settingOf(config, 'cache');
  if (typeof cache === 'boolean') settings.cache_enabled = cache;
  const cacheParams = settingOf(config, 'cache_params');
  const ttl = isObject(cacheParams) ? asNumber(cacheParams.ttl) : undefined;
  if (cache === true && ttl !== undefined && ttl >= 1) settings.cache_ttl_seconds = Math.round(ttl);
  return { settings, defaults: { cache_enabled: false }, key };
}

interface Budget {
  readonly usd: JsonValue;
  readonly period: keyof typeof PROJECT_FIELDS | 'total';
}

const PROJECT_FIELDS = { day: 'daily_budget_usd', week: 'weekly_budget_usd', month: 'monthly_cap_usd' } as const;
const DURATIONS = [
  ['day', /^(?:1d|24h)$/],
  ['week', /^(?:7d|1w)$/],
  ['month', /^(?:1mo|2[89]d|3[01]d)$/],
] as const;

function budgetOf({ usd, period }: Budget): JsonObject {
  return period === 'day' || period === 'week'
    ? { [PROJECT_FIELDS[period]]: usd }
    : { budget_usd: usd, budget_period: period };
}

/** Reads a budget of a UTC day, week or month, or without a period; notes any other period. */
function readBudget(section: JsonObject, at: string, note: AddNote): Budget | undefined {
  const usd = asNumber(section.max_budget);
  if (usd === undefined) return undefined;
  const duration = section.budget_duration ?? null;
  if (duration === null) return { usd, period: 'total' };
  const [period] = DURATIONS.find(([, form]) => typeof duration === 'string' && form.test(duration)) ?? [];
  if (period !== undefined) {
    note('differs', `${at}.max_budget`, `$${usd} each UTC ${period}, not every ${duration}`);
    return { usd, period };
  }
  const why = 'budgets here are of a UTC day, week or month, or for good';
  note('left out', `${at}.max_budget`, `$${usd} every ${String(duration).slice(0, 20)}: ${why}`);
  return undefined;
}

function readKey(config: JsonObject, names: NamesOfFile, note: AddNote): JsonObject {
  const key: JsonObject = {};
  for (const name of KEY_SETTINGS) {
    const section = sectionOf(sectionOf(config, 'litellm_settings'), name);
    const budget = readBudget(section, name, note);
    if (budget !== undefined) Object.assign(key, budgetOf(budget));
    const counts = {
      rate_limit_per_minute: asCount(section.rpm_limit),
      tokens_per_minute: asCount(section.tpm_limit),
      max_concurrency: asCount(section.max_parallel_requests),
    };
    for (const [field, value] of Object.entries(counts)) if (value !== undefined) key[field] = value;
    const models = namesOfKey(section.models, names);
    if (models.length > 0) key.allowed_models = [...models];
  }
  return key;
}

/** A wildcard means every model of the file. Names of `access_groups` become their models. */
function namesOfKey(models: JsonValue | undefined, { byGroup }: NamesOfFile): readonly string[] {
  const given = (Array.isArray(models) ? models : []).flatMap((one) => asText(one) ?? []);
  if (given.some((one) => one === '*' || one.startsWith('all-'))) return [];
  return [...new Set(given.flatMap((one) => byGroup.get(one) ?? [one]))];
}

function asCount(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value);
  return number !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

export function sectionOf(config: JsonObject, name: string): JsonObject {
  const section = config[name];
  return isObject(section) ? section : {};
}
