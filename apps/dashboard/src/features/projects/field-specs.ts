import { parseLabels } from '@llm0/core/keys/parse-labels';
import { type FieldSpec, readFuture, readInteger } from '../forms/prepare-form';
import { ModelsField, ProvidersField } from '../forms/suggested-fields';
import { SHARE_FIELDS } from '../teams/share-fields';
import { TeamField } from '../teams/team-field';
import { per, perWithin } from './prepare-limits';

const PROVIDERS = {
  ...{ name: 'allowed_providers', label: 'Providers', kind: 'list' },
  ...{ widget: ProvidersField, placeholder: 'every provider' },
} as const satisfies FieldSpec;

/** Labels as `team=search, env=prod`. */
export const LABELS = {
  name: 'labels',
  label: 'Labels',
  kind: 'text',
  placeholder: 'team=search, cost-center=4711',
  read: (text) => {
    const labels = parseLabels(text);
    if (labels === undefined) throw new Error('must be names and values such as team=search, env=prod');
    return labels;
  },
  show: (labels) =>
    Object.entries(labels as object)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
} as const satisfies FieldSpec;

const WEEKLY = { name: 'weekly_budget_usd', label: 'budget per week' };
const MONTHLY = { name: 'monthly_cap_usd', label: 'monthly cap' };

export const PROJECT_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'team_id', label: 'Team', kind: 'text', widget: TeamField },
  {
    name: 'cost_center',
    label: 'Cost center',
    kind: 'text',
    hint: "Leave empty for the team's.",
  },
  {
    name: 'monthly_cap_usd',
    label: 'Monthly cap, USD',
    kind: 'usd',
    hint: 'Per calendar month, UTC. Leave empty for no cap.',
    understood: per('a month'),
  },
  {
    name: 'daily_budget_usd',
    label: 'Budget per day, USD',
    kind: 'usd',
    hint: 'Per day, UTC. Leave empty for none.',
    understood: perWithin('a day', () => [WEEKLY, MONTHLY]),
  },
  {
    name: 'weekly_budget_usd',
    label: 'Budget per week, USD',
    kind: 'usd',
    hint: 'Per week from Monday, UTC. Leave empty for none.',
    understood: perWithin('a week', () => [{ ...MONTHLY, touched: 2 }]),
  },
  ...SHARE_FIELDS,
  {
    name: 'strict_caps',
    label: 'Hard cap',
    kind: 'flag',
    hint: 'Refuses requests whose cost has no upper bound',
  },
  {
    name: 'cache_enabled',
    label: 'Exact cache',
    kind: 'flag',
    hint: 'Answers identical requests at no cost',
  },
  {
    name: 'semantic_cache_enabled',
    label: 'Semantic cache',
    kind: 'flag',
    hint: 'Also answers nearly identical requests',
  },
  {
    name: 'semantic_shadow',
    label: 'Semantic cache in shadow mode',
    kind: 'flag',
    hint: 'Only logs what it would have answered',
  },
  {
    name: 'cache_tool_calls',
    label: 'Cache tool calls',
    kind: 'flag',
    hint: "Also caches answers that call tools: an agent's second run then replays its first",
  },
  {
    name: 'share_responses',
    label: 'Share responses',
    kind: 'flag',
    hint: "Keys and customers may read, continue and delete each other's kept responses",
  },
  {
    name: 'drop_params',
    label: 'Drop unsupported parameters',
    kind: 'flag',
    hint: 'Removes what a vendor does not accept instead of refusing the request',
  },
  {
    name: 'failover',
    label: 'Failover',
    kind: 'text',
    options: { '': 'on', off: 'off' },
    hint: 'Off: only the first target is tried, unless a key or an alias overrides it',
  },
  {
    name: 'allowed_models',
    label: 'Models',
    kind: 'list',
    widget: ModelsField,
    hint: 'Models and aliases that its keys may use. Leave empty for all.',
    placeholder: 'every model',
  },
  { ...PROVIDERS, hint: 'Providers that may answer its keys. Leave empty for all.' },
  {
    name: 'passthrough',
    label: 'Pass-through',
    kind: 'list',
    widget: ProvidersField,
    hint: 'Providers whose native APIs its keys may use. Leave empty for none.',
    placeholder: 'none',
  },
  {
    name: 'allowed_tools',
    label: 'MCP tools',
    kind: 'list',
    hint: 'Tools its keys may call, such as github__*. Leave empty for none.',
    placeholder: 'none',
  },
  {
    name: 'code_mode',
    label: 'Code Mode',
    kind: 'flag',
    hint: 'Its keys may run scripts that call the tools of their MCP servers',
  },
  { ...LABELS, hint: 'For attributing costs: every request made with its keys carries them' },
  {
    ...{ name: 'cache_ttl_seconds', label: 'Cache lifetime, seconds', kind: 'integer' },
    placeholder: 'as the gateway',
    hint: "Leave empty for the gateway's lifetime, CACHE_TTL_SECONDS",
  },
  {
    ...{ name: 'semantic_threshold', label: 'Semantic threshold', kind: 'number' },
    placeholder: 'measured default',
    hint: '0 to 1. Leave empty for the measured default.',
  },
  {
    name: 'on_store_failure',
    label: 'When the store is unavailable',
    kind: 'text',
    options: { closed: 'refuse requests', open: 'serve without limits' },
  },
  {
    name: 'unknown_model_policy',
    label: 'Models without a price',
    kind: 'text',
    options: { '': 'refused where a cap applies', refuse: 'refused', allow_unpriced: 'served, counted as free' },
  },
  {
    name: 'default_output_tokens',
    label: 'Reserved output tokens',
    kind: 'integer',
    placeholder: '4096',
    hint: 'For requests that set no limit of their own',
  },
  {
    name: 'max_customers',
    label: 'Customers per month',
    kind: 'integer',
    read: (text) => (/^0+$/.test(text) ? 0 : readInteger(text)),
    hint: 'Maximum number of different X-Customer-IDs. Customers with their own limits are always allowed. Leave empty for no maximum.',
  },
  {
    name: 'queue_timeout_ms',
    label: 'Wait for limits, ms',
    kind: 'integer',
    hint: 'Requests over a rate or concurrency limit wait this long for their turn. Leave empty to refuse them at once.',
  },
  { name: 'is_active', label: 'Serve requests', kind: 'flag' },
];

export const NEW_PROJECT_FIELDS: readonly FieldSpec[] = PROJECT_FIELDS.filter(({ name }) =>
  ['name', 'monthly_cap_usd'].includes(name),
);

const KEY_BUDGET = { name: 'budget_usd', label: 'budget' };

export const KEY_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'rate_limit_per_minute', label: 'Requests per minute', kind: 'integer' },
  { name: 'tokens_per_minute', label: 'Tokens per minute', kind: 'integer' },
  { name: 'max_concurrency', label: 'Concurrent requests', kind: 'integer' },
  {
    name: 'budget_usd',
    label: 'Budget, USD',
    kind: 'usd',
    understood: (usd, { budget_period: period }) => per(period === 'month' ? 'a month' : 'in total')(usd),
  },
  { name: 'budget_period', label: 'Budget period', kind: 'text', options: { total: 'all time', month: 'each month' } },
  {
    name: 'daily_budget_usd',
    label: 'Budget per day, USD',
    kind: 'usd',
    understood: perWithin('a day', () => [WEEKLY, KEY_BUDGET]),
  },
  {
    name: 'weekly_budget_usd',
    label: 'Budget per week, USD',
    kind: 'usd',
    understood: perWithin('a week', ({ budget_period: period }) => [
      { ...KEY_BUDGET, touched: period === 'month' ? 2 : 1 },
    ]),
  },
  {
    name: 'max_run_budget_usd',
    label: 'Most per run, USD',
    kind: 'usd',
    hint: "Of an agent's run (X-LLM0-Run-Id). Leave empty for any amount.",
  },
  {
    name: 'default_run_budget_usd',
    label: 'Budget per run, USD',
    kind: 'usd',
    hint: 'For runs that name none. Leave empty for none.',
  },
  {
    name: 'allowed_models',
    label: 'Models',
    isMore: true,
    kind: 'list',
    widget: ModelsField,
    hint: 'Models and aliases it may use. Leave empty for all.',
    placeholder: 'every model',
  },
  { ...PROVIDERS, isMore: true, hint: 'Providers that may answer. Leave empty for all.' },
  {
    name: 'drop_params',
    label: 'Unsupported parameters',
    isMore: true,
    kind: 'text',
    options: { '': 'same as the project', true: 'drop', false: 'refuse the request' },
    read: (text) => text === 'true',
  },
  {
    name: 'failover',
    label: 'Failover',
    isMore: true,
    kind: 'text',
    options: { '': 'same as alias and project', on: 'on', off: 'off' },
    hint: 'Off: only the first target is tried',
  },
  {
    name: 'passthrough',
    label: 'Pass-through',
    isMore: true,
    kind: 'list',
    widget: ProvidersField,
    hint: 'Providers whose native APIs it may use. Leave empty to follow the project; "none" allows none.',
    placeholder: 'same as the project',
    emptyList: 'none',
  },
  {
    name: 'allowed_tools',
    label: 'MCP tools',
    isMore: true,
    kind: 'list',
    hint: 'Tools it may call, such as github__*. Leave empty to follow the project; "none" allows none.',
    placeholder: 'same as the project',
    emptyList: 'none',
  },
  {
    name: 'code_mode',
    label: 'Code Mode',
    isMore: true,
    kind: 'text',
    options: { '': 'same as the project', true: 'on', false: 'off' },
    hint: 'Scripts that call the tools of its MCP servers',
    read: (text) => text === 'true',
  },
  { ...LABELS, isMore: true, hint: "For attributing costs. Added to the project's labels, which they override." },
  {
    ...{ name: 'expires_at', label: 'Expires', kind: 'instant', isMore: true },
    hint: 'Your local time. Leave empty for never.',
  },
];

/** An old expiry may stay; a new key would be of no use with one. */
export const NEW_KEY_FIELDS: readonly FieldSpec[] = KEY_FIELDS.map((spec) =>
  spec.name === 'expires_at' ? { ...spec, read: readFuture } : spec,
);
