import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { ErrorKind } from '@llm0/core/errors/gateway-error';
import { code, type ReferencePage, table } from './table';

interface Advice {
  readonly cause: string;
  readonly fix: string;
}

const advice = (cause: string, fix: string): Advice => ({ cause, fix });

/** The compiler asks for a line for each kind. */
const ADVICE = {
  invalid_json: advice('The body is not JSON.', 'Send one JSON object with `Content-Type: application/json`.'),
  invalid_request: advice('A field is missing or wrong; `param` names it.', 'Correct that field.'),
  unsupported_parameter: advice(
    'The model has no such parameter, and leaving it out would change the answer.',
    'Remove it, or send `X-LLM0-Drop-Params: true`.',
  ),
  model_not_priced: advice(
    'A cap applies, and the model has no price.',
    'Set one: `llm0 models set`. Without strict caps, `unknown_model_policy: allow_unpriced` on the project helps too.',
  ),
  request_over_limit: advice(
    'This request alone exceeds `per_request_max_usd` or `tokens_per_minute`.',
    'Send less, lower `max_tokens`, or raise the limit.',
  ),
  context_length_exceeded: advice('The prompt is longer than the model reads.', 'Shorten it, or use a larger model.'),
  guardrail_blocked: advice(
    'A guardrail rule blocked the text; `param` names the rule.',
    'Change the text, or the rule.',
  ),
  missing_api_key: advice('The request has no key.', 'Send `Authorization: Bearer llm0_live_…`.'),
  invalid_api_key: advice('The key is unknown or revoked.', 'Check it, or create another: `llm0 keys create`.'),
  key_expired: advice('`expires_at` of the key has passed.', 'Move it: `llm0 keys update … --expires-at`.'),
  model_not_allowed: advice(
    '`allowed_models` of the key, or of a level above it, does not contain the model. Or `allowed_providers` does not contain its provider.',
    'Send the whole list with the new model: `llm0 keys update … --allowed-models`.',
  ),
  project_inactive: advice('The project is switched off.', 'Switch it on: `llm0 projects update … --is-active`.'),
  permission_denied: advice(
    'The token or key may not do this.',
    'Use a token with the role `admin`, or a key that may.',
  ),
  sign_in_again: advice(
    'Admin API: the sign-in of this session is too old for the change.',
    'Open `/auth/login?again=true`, then repeat the change.',
  ),
  spend_cap_exceeded: advice(
    'The project reached `monthly_cap_usd`, `daily_budget_usd` or `weekly_budget_usd`.',
    'Raise it: `llm0 projects update … --monthly-cap-usd`. It resets on the 1st, at midnight or on Monday, UTC.',
  ),
  key_budget_exceeded: advice(
    'The key reached `budget_usd` of its `budget_period`, `daily_budget_usd` or `weekly_budget_usd`.',
    'Raise it: `llm0 keys update … --budget-usd`. A period of `month` resets on the 1st, UTC; `total` never resets.',
  ),
  label_budget_exceeded: advice(
    'A label of the request reached its budget of the day, week or month; `spent_usd` and `budget_usd` say how much.',
    'Raise it: `llm0 label-budgets update …`. It resets at midnight, on Monday or on the 1st, UTC.',
  ),
  team_budget_exceeded: advice(
    'The team or organization reached its budget of the day, week or month; the message names which.',
    'Raise it: `llm0 teams update …` or `llm0 organizations update …`. It resets at midnight, on Monday or on the 1st, UTC.',
  ),
  user_budget_exceeded: advice(
    "The key's user reached the budget of the day, week or month.",
    'Raise it: `llm0 users update …`. It resets at midnight, on Monday or on the 1st, UTC.',
  ),
  run_budget_exceeded: advice(
    "The budget of the agent's run doesn't cover the request; `spent_usd` and `budget_usd` say how much. The run is paused.",
    'Raise it: `llm0 runs raise …`. The run continues with its next request.',
  ),
  run_stopped: advice('An operator stopped the run.', 'Begin another run, with another `X-LLM0-Run-Id`.'),
  model_not_found: advice('No provider offers the model; the message names similar ones.', 'Check `GET /v1/models`.'),
  not_found: advice('Nothing has this path or id.', 'Check the address; the base URL ends in `/v1`.'),
  method_not_allowed: advice('The path takes another method.', 'Use the method that the message names.'),
  conflict: advice('Something of that name exists, or was changed meanwhile.', 'Read it again, then change it.'),
  idempotency_conflict: advice(
    'The `Idempotency-Key` was used with another body.',
    'Use a new key for each different request.',
  ),
  request_too_large: advice('The body exceeds `MAX_BODY_BYTES`.', 'Send less, or raise the setting.'),
  rate_limit_exceeded: advice(
    'A limit is reached; `param` is `key`, `customer`, `tokens`, `concurrency`, `organization`, `team`, `user`, `global` or `client`. Without `param` the key sends too many wrong requests.',
    'Wait for `Retry-After`, or raise the limit: [every source](../guides/too-many-requests.md).',
  ),
  customer_spend_limit: advice(
    'The customer of `X-Customer-ID` reached a spend limit.',
    'Raise it: `llm0 limits set`, or wait for the next day or month.',
  ),
  upstream_rejected: advice(
    'The provider refused the request with 400, 413 or 422.',
    'Read its message and correct the request.',
  ),
  upstream_error: advice(
    'Every target failed; `error.attempts` lists them.',
    'Check the provider: `llm0 providers test`.',
  ),
  upstream_unavailable: advice(
    'No target could be reached, the operator drained all of them, or some failed and the last answered 429. For HTTP backends: all are resting.',
    'Wait for `Retry-After`, or add a stand-in to the chain.',
  ),
  upstream_rate_limited: advice(
    'Every target answered 429, or has `max_concurrency` requests under way.',
    'Wait for `Retry-After`, or add keys or targets.',
  ),
  upstream_timeout: advice(
    'No target answered within `REQUEST_TIMEOUT` or `ANSWER_TIMEOUT`.',
    'Raise it, or stream: [time-outs of slow models](../operate/troubleshooting.md#time-outs-of-slow-models).',
  ),
  not_cached: advice(
    'HTTP backends only: the caller asked for a cached answer, and there is none.',
    'Send it without `only-if-cached`.',
  ),
  overloaded: advice(
    '`MAX_CONCURRENT_REQUESTS`, the memory for bodies or the log queue is full.',
    'Wait for `Retry-After`. [The message tells the cause](../operate/troubleshooting.md#overloaded).',
  ),
  store_unavailable: advice(
    'Redis or Postgres cannot be reached, or Postgres takes no writes.',
    'Answered requests keep their rows: [what fails](../operate/failures.md), and [what to do](../operate/troubleshooting.md#a-store-was-lost).',
  ),
  client_closed: advice('The caller closed the connection. Only the log shows it.', 'Raise the client’s own time-out.'),
  internal: advice('The gateway failed.', 'Report it with the `X-Request-Id`.'),
} as const satisfies Record<ErrorKind, Advice>;

/** Whether to send the same request again; `no` for all others. */
const RETRY: Partial<Record<ErrorKind, string>> = {
  rate_limit_exceeded: 'after `Retry-After`',
  customer_spend_limit: 'after `Retry-After`: the next UTC day or month',
  upstream_error: 'yes, with back-off',
  upstream_unavailable: 'after `Retry-After`',
  upstream_rate_limited: 'after `Retry-After`',
  upstream_timeout: 'yes, but the provider may bill both',
  overloaded: 'after `Retry-After`',
  store_unavailable: 'after `Retry-After`',
  internal: 'once',
};

export function errorsPage(): ReferencePage {
  const rows = Object.entries(ERROR_TABLE).map(([kind, { status }]) => {
    const { cause, fix } = ADVICE[kind as ErrorKind];
    return [code(kind), String(status), RETRY[kind as ErrorKind] ?? 'no', cause, fix];
  });
  return {
    title: 'Errors',
    purpose: 'Every `error.code`, with its usual status, whether to retry, its cause and its fix.',
    body: `${INTRO}\n\n${table(['code', 'status', 'retry?', 'cause', 'fix'], rows)}`,
  };
}

const INTRO = `Errors have the shape \`{"error": {"message", "type", "code", "param"}}\`. Failures of providers add \`attempts\`; 429 and 503
carry \`Retry-After\`. Endpoints of other dialects answer in their own envelope. Find a request by its \`X-Request-Id\` in the log.

**Retry.** *No* means that the same request fails again until you apply the fix. A 402 has no \`Retry-After\`: only a higher cap or a new
month helps. \`Retry-After\` has whole seconds, at least 1. It can reach a day or a month for a customer's limits.

Three causes have another status: a body that arrives too slowly is 408 \`invalid_request\`, a WebSocket at an endpoint without one
is 426 \`invalid_request\`, and an outdated \`If-Match\` of the admin API is 412 \`conflict\`.`;
