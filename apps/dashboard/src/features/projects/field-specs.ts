import type { FieldSpec } from '../forms/prepare-form';

export const PROJECT_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'monthly_cap_usd', label: 'Monthly cap, USD', kind: 'usd', hint: 'A UTC month; empty = none' },
  {
    name: 'strict_caps',
    label: 'The cap is absolute',
    kind: 'flag',
    hint: 'Requests without a bound on their cost are refused',
  },
  {
    name: 'cache_enabled',
    label: 'Exact cache',
    kind: 'flag',
    hint: 'The same question again is answered for nothing',
  },
  { name: 'semantic_cache_enabled', label: 'Semantic cache', kind: 'flag', hint: 'Nearly the same question too' },
  {
    name: 'semantic_shadow',
    label: 'Semantic cache in shadow',
    kind: 'flag',
    hint: 'Only logs what it would have answered',
  },
  {
    name: 'cache_tool_calls',
    label: 'Cache tool calls',
    kind: 'flag',
    hint: "Answers that call tools too: an agent's second run then replays its first",
  },
  {
    name: 'drop_params',
    label: 'Drop unsupported parameters',
    kind: 'flag',
    hint: 'Leave out what a vendor does not take, instead of refusing the request',
  },
  {
    name: 'passthrough',
    label: 'Pass-through',
    kind: 'list',
    hint: 'Providers whose native APIs its keys may use; empty = none',
    placeholder: 'none',
  },
  { name: 'cache_ttl_seconds', label: 'Cache lifetime, s', kind: 'integer', hint: "Empty = the gateway's" },
  { name: 'semantic_threshold', label: 'Semantic threshold', kind: 'number', hint: '0 to 1; empty = measured default' },
  {
    name: 'on_store_failure',
    label: 'When the store is gone',
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
    label: 'Output tokens held',
    kind: 'integer',
    hint: 'Where a request sets no limit',
  },
  {
    name: 'max_customers',
    label: 'Customers a month',
    kind: 'integer',
    hint: 'Different X-Customer-IDs; those with limits of their own always pass; empty = any number',
  },
  { name: 'is_active', label: 'Serve requests', kind: 'flag' },
];

export const NEW_PROJECT_FIELDS: readonly FieldSpec[] = PROJECT_FIELDS.filter(({ name }) =>
  ['name', 'monthly_cap_usd'].includes(name),
);

export const KEY_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'rate_limit_per_minute', label: 'Requests a minute', kind: 'integer' },
  { name: 'tokens_per_minute', label: 'Tokens a minute', kind: 'integer' },
  { name: 'max_concurrency', label: 'Requests at once', kind: 'integer' },
  { name: 'budget_usd', label: 'Budget, USD', kind: 'usd' },
  { name: 'budget_period', label: 'Budget of', kind: 'text', options: { total: 'all time', month: 'each month' } },
  {
    name: 'allowed_models',
    label: 'Models',
    kind: 'list',
    hint: 'With commas between; empty = every model',
    placeholder: 'every model',
  },
  {
    name: 'drop_params',
    label: 'Unsupported parameters',
    kind: 'text',
    options: { '': 'as the project says', true: 'drop', false: 'refuse the request' },
    read: (text) => text === 'true',
  },
  {
    name: 'passthrough',
    label: 'Pass-through',
    kind: 'list',
    hint: 'Providers whose native APIs it may use; empty = as the project says, "none" = none',
    placeholder: 'as the project says',
    emptyList: 'none',
  },
  { name: 'expires_at', label: 'Ends at', kind: 'instant', hint: 'Local time; empty = never' },
];

export const CUSTOMER_FIELDS: readonly FieldSpec[] = [
  { name: 'daily_spend_limit_usd', label: 'A day, USD', kind: 'usd' },
  { name: 'monthly_spend_limit_usd', label: 'A month, USD', kind: 'usd' },
  { name: 'per_request_max_usd', label: 'One request, USD', kind: 'usd' },
  { name: 'requests_per_minute', label: 'Requests a minute', kind: 'integer' },
  { name: 'requests_per_hour', label: 'Requests an hour', kind: 'integer' },
  { name: 'requests_per_day', label: 'Requests a day', kind: 'integer' },
  {
    name: 'on_limit_behavior',
    label: 'Beyond a spend limit',
    kind: 'text',
    options: { block: 'refuse (429)', downgrade: 'answer with a cheaper model', warn: 'answer with a warning' },
  },
  { name: 'downgrade_model', label: 'Cheaper model', kind: 'text', hint: 'For "answer with a cheaper model"' },
];
