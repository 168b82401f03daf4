import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-list';
import { type AddNote, asNumber } from './import-plan';
import { settingOf } from './plan-aliases';
import { KEY_FIELDS, sectionOf } from './plan-project';

/** Outcome of a setting: taken by the plan (null), a reason, or one of the gateway's environment variables. */
type Fate = null | string | { readonly set: string; readonly as: (value: JsonValue) => string };

const seconds = (value: JsonValue): string => `${asNumber(value) ?? 30}s`;
const plain = (value: JsonValue): string => (typeof value === 'number' ? String(value) : 'as there');
const BUILT_IN = 'is built in: a breaker for each target, cool-downs after 429';
const ATTEMPTS = 'at most two attempts per target, one per target of an alias';
const TRACES = 'set OTEL_EXPORTER_OTLP_ENDPOINT, or read the log ("llm0 logs tail") and /metrics';
const TEAMS = 'teams are projects here: "llm0 projects create", each with a cap, keys and labels';
const CUSTOMERS = 'customers have limits of their own: "llm0 limits set <project> <customer>"';
const OWN_STORE = { set: 'REDIS_URL', as: () => 'redis://…' } as const;
const ALERTS = 'alerts are set by "llm0 alerts create"';
const SWITCHES = 'has no counterpart here';

const LITELLM: Readonly<Record<string, Fate>> = {
  ...{ drop_params: null, cache: null, max_budget: null, budget_duration: null, default_key_generate_params: null },
  ...{ upperbound_key_generate_params: null, fallbacks: null, default_fallbacks: null, model_group_alias: null },
  ...{ context_window_fallbacks: null, content_policy_fallbacks: null, routing_strategy: null, cache_params: null },
  request_timeout: { set: 'REQUEST_TIMEOUT', as: seconds },
  num_retries: ATTEMPTS,
  allowed_fails: BUILT_IN,
  cooldown_time: BUILT_IN,
  ...{ success_callback: TRACES, failure_callback: TRACES, callbacks: TRACES, service_callbacks: TRACES },
  ...{ default_team_settings: TEAMS, default_internal_user_params: TEAMS, max_internal_user_budget: TEAMS },
  ...{ internal_user_budget_duration: TEAMS, default_team_params: TEAMS, key_generation_settings: TEAMS },
  ...{ max_end_user_budget: CUSTOMERS, max_end_user_budget_id: CUSTOMERS },
  guardrails: 'guardrails are set for each project',
  mcp_aliases: 'MCP servers are added by "llm0 mcp servers add <alias>"',
  json_logs: 'log lines are JSON already',
  ssl_verify: 'certificates are always verified: NODE_EXTRA_CA_CERTS names a file with authorities of your own',
  set_verbose: { set: 'LOG_LEVEL', as: () => 'debug' },
  turn_off_message_logging: 'prompts are not kept unless LOG_BODIES=true',
};

const ROUTER: Readonly<Record<string, Fate>> = {
  ...LITELLM,
  timeout: { set: 'REQUEST_TIMEOUT', as: seconds },
  stream_timeout: { set: 'STREAM_IDLE_TIMEOUT', as: seconds },
  ...{
    redis_host: OWN_STORE,
    redis_url: OWN_STORE,
    redis_port: OWN_STORE,
    redis_password: OWN_STORE,
    redis_db: OWN_STORE,
  },
  enable_pre_call_checks: 'targets that are too small for a request are always passed over',
  ...{ retry_policy: ATTEMPTS, max_fallbacks: ATTEMPTS, retry_after: ATTEMPTS, model_group_retry_policy: ATTEMPTS },
  ...{ allowed_fails_policy: BUILT_IN, disable_cooldowns: BUILT_IN },
  provider_budget_config: 'budgets belong to projects, keys and customers; use a spend alert for a provider',
  ...{ enable_tag_filtering: SWITCHES, tag_filtering_match_any: SWITCHES, routing_strategy_args: SWITCHES },
};

const GENERAL: Readonly<Record<string, Fate>> = {
  master_key: { set: 'ADMIN_TOKEN', as: () => 'for operators; clients get keys of their own' },
  database_url: { set: 'DATABASE_URL', as: () => 'postgres://… an empty database of its own' },
  ...{
    alerting: ALERTS,
    alert_types: ALERTS,
    alerting_threshold: ALERTS,
    alerting_args: ALERTS,
    alert_to_webhook_url: ALERTS,
  },
  global_max_parallel_requests: { set: 'MAX_CONCURRENT_REQUESTS', as: plain },
  max_request_size_mb: { set: 'MAX_BODY_BYTES', as: (value) => `${asNumber(value) ?? 20}MiB` },
  max_response_size_mb: { set: 'MAX_RESPONSE_BYTES', as: (value) => `${asNumber(value) ?? 64}MiB` },
  store_prompts_in_spend_logs: { set: 'LOG_BODIES', as: String },
  maximum_spend_logs_retention_period: { set: 'LOG_RETENTION_DAYS', as: () => '90 (at least 62)' },
  use_x_forwarded_for: { set: 'TRUST_PROXY_HOPS', as: () => '1' },
  pass_through_endpoints: "vendors' own APIs are at /passthrough/{provider}, for projects with passthrough: [provider]",
  store_model_in_db:
    'models, keys and budgets that are in its database only are not in this file: make them here by hand',
  ...{
    enable_jwt_auth: SWITCHES,
    custom_auth: SWITCHES,
    allowed_ips: 'leave it to the network in front of the gateway',
  },
};

const SECTIONS = { litellm_settings: LITELLM, router_settings: ROUTER, general_settings: GENERAL } as const;

const ELSEWHERE: Readonly<Record<string, string>> = {
  include: 'files that it includes are not read: import them as well',
  guardrails: 'guardrails are set for each project',
  mcp_servers: 'MCP servers are added by "llm0 mcp servers add <alias>"',
  callback_settings: TRACES,
};
const READ = new Set(['model_list', 'environment_variables', 'credential_list', ...Object.keys(SECTIONS)]);

/** Switches with an effect when `false`; for others, `false` is the default here. */
const MEANT_WHEN_OFF = new Set(['ssl_verify']);

/** Fields that the plan takes from nested settings. `type`, `host` and the like of a cache belong to the hot store. */
const FIELDS: readonly (readonly [name: string, taken: readonly string[], why: string])[] = [
  ['cache_params', ['ttl', 'type', 'host', 'port', 'password', 'url'], 'caches are set for each project'],
  ...(['default_key_generate_params', 'upperbound_key_generate_params'] as const).map(
    (name) => [name, KEY_FIELDS, 'has no counterpart among the limits of a key'] as const,
  ),
];

/** Notes every skipped setting; shows a value only if it isn't secret. */
export function noteSettings(config: JsonObject, note: AddNote): void {
  const said = new Map<string, string>();
  for (const [section, fates] of Object.entries(SECTIONS)) {
    for (const [name, value] of Object.entries(sectionOf(config, section))) {
      const fate = Object.hasOwn(fates, name) ? fates[name] : undefined;
      const isOff = value === false && fate !== undefined && !MEANT_WHEN_OFF.has(name);
      if (value === null || isOff || fate === null) continue;
      const at = `${section}.${name}`;
      if (fate === undefined || typeof fate === 'string') note('left out', at, fate ?? SWITCHES);
      else noteVariable({ at, name: fate.set, value: fate.as(value) }, said, note);
    }
  }
  for (const [name, taken, why] of FIELDS) {
    const setting = settingOf(config, name);
    for (const [field, value] of Object.entries(isObject(setting) ? setting : {})) {
      if (value !== null && !taken.includes(field)) note('left out', `${name}.${field}`, why);
    }
  }
  for (const name of Object.keys(config)) {
    if (!READ.has(name))
      note('left out', name, (Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined) ?? SWITCHES);
  }
}

/** Several settings may map to one: notes the first, and others that differ. */
function noteVariable(
  { at, name, value }: { readonly at: string; readonly name: string; readonly value: string },
  said: Map<string, string>,
  note: AddNote,
): void {
  const before = said.get(name);
  if (before === undefined) note('set yourself', name, `${value} (${at})`);
  else if (before !== value)
    note('left out', at, `${value}: ${name} is one for all requests, and the file has ${before} for it as well`);
  said.set(name, before ?? value);
}
