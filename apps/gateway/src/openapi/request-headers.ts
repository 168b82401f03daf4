import type { Part } from './document-parts';

const header = (name: string, schema: Part, description: string): Part => ({
  ...{ name, in: 'header', required: false, schema, description },
});
const text = { type: 'string' } as const;

/** `components.parameters`: headers that the gateway itself understands. Others named `X-LLM0-…` are labels. */
export const PARAMETERS: Readonly<Record<string, Part>> = {
  CustomerId: header(
    'X-Customer-ID',
    { type: 'string', maxLength: 256 },
    'Customer whose limits apply and whose spend counts',
  ),
  RunId: header('X-LLM0-Run-Id', text, 'Agent run; groups its requests and tool calls'),
  Project: header('X-LLM0-Project', text, 'Id or name of the project, for tokens of an identity provider; a label too'),
  Session: header(
    'X-LLM0-Session',
    { type: 'string', maxLength: 256 },
    'Conversation; it stays on the target that has its prompt cached',
  ),
  Label: header(
    'X-LLM0-Team',
    { type: 'string', maxLength: 256 },
    'Any further `X-LLM0-<Name>` is a label of the request (16 at most), here `team`; see logs and statistics',
  ),
  Cache: header(
    'X-LLM0-Cache',
    { type: 'string', enum: ['on', 'off', 'refresh'] },
    '`off` skips the cache, `refresh` renews the entry',
  ),
  CacheTtl: header(
    'X-LLM0-Cache-TTL',
    { type: 'integer', minimum: 1, maximum: 31_536_000 },
    'Lifetime of the cache entry in seconds',
  ),
  CacheThreshold: header(
    'X-LLM0-Cache-Threshold',
    { type: 'number', minimum: 0, maximum: 1 },
    "Minimum similarity of the semantic cache, if higher than the project's",
  ),
  CacheControl: header('Cache-Control', text, '`no-store`: skip the cache; `no-cache`: renew the entry'),
  Guardrail: header(
    'X-LLM0-Guardrail',
    text,
    'Names of guardrail rules, separated by commas. They block in this request, whatever their action',
  ),
  DropParams: header(
    'X-LLM0-Drop-Params',
    { type: 'string', enum: ['true', 'false'] },
    "Drop parameters that the provider doesn't support; `X-LLM0-Dropped` names them",
  ),
  Failover: header(
    'X-LLM0-Failover',
    { type: 'string', enum: ['off'] },
    'Try only the first target: no fallback, no larger model',
  ),
  TimeoutMs: header(
    'X-LLM0-Timeout-Ms',
    { type: 'integer', minimum: 1 },
    "Time-out of one attempt in milliseconds. It covers a stream's start or a whole plain answer, and only lowers the limit",
  ),
  RunBudgetUsd: header(
    'X-LLM0-Run-Budget-Usd',
    { type: 'string' },
    "Budget of the run, set by its first request and bounded by the key's `max_run_budget_usd`",
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    { type: 'string', minLength: 1, maxLength: 255 },
    'Repeats the first answer for 24 h, for the same API key and body',
  ),
  ClientRequestId: header('X-Request-Id', text, 'Your id for the request, stored as `client_request_id`'),
  Traceparent: header(
    'traceparent',
    { type: 'string', pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}' },
    'W3C trace of the caller, forwarded with `tracestate`; the row has its `trace_id`',
  ),
};

/** Headers of the chat endpoints. */
export const CHAT_HEADERS = Object.keys(PARAMETERS);
/** Headers of every request with a row. */
export const ROW_HEADERS = ['CustomerId', 'RunId', 'Label', 'ClientRequestId', 'Traceparent'];

const value = (schema: Part, description: string): Part => ({ schema, description });
const usd = { type: 'string', pattern: '^\\d+\\.\\d{9}$' } as const;
const whole = { type: 'integer' } as const;

/** Response headers by name, sent where applicable. */
export const RESPONSE_HEADERS: Readonly<Record<string, Part>> = {
  'X-Request-Id': value({ type: 'string', format: 'uuid' }, 'UUIDv7 of the request and its log row'),
  'X-Provider': value(text, 'Provider that answered'),
  'X-Model': value(text, 'Model that answered'),
  'X-Cache-Hit': value({ type: 'string', enum: ['exact', 'semantic', 'miss'] }, 'Source of the answer'),
  'X-Cache': value({ type: 'string', enum: ['HIT', 'MISS', 'STALE'] }, 'HTTP backends only'),
  'X-Cache-Similarity': value({ type: 'number' }, 'Semantic hits only'),
  'X-Cost-Usd': value(usd, 'Plain answers only; 0.000000000 for hits'),
  'X-Tokens-Prompt': value(whole, 'Plain answers only'),
  'X-Tokens-Completion': value(whole, 'Plain answers only'),
  'X-Tokens-Total': value(whole, 'Plain answers only'),
  'X-Failover': value({ type: 'string', const: 'true' }, 'A fallback target answered'),
  'X-LLM0-Route': value(
    text,
    'Why each target was chosen or skipped: `target=reason; …`; only where there was a choice',
  ),
  'X-Original-Provider': value(text, 'Provider that was tried first'),
  'X-Queued-Ms': value({ type: 'number' }, 'Wait for rate and concurrency limits, if the project has queue_timeout_ms'),
  'X-Downgraded-From': value(text, "Requested model, if a customer's limit chose another"),
  'X-Warning': value(text, "A limit is near or exceeded, or couldn't be checked"),
  'X-RateLimit-Limit': value(whole, 'Requests per minute of the tightest bucket'),
  'X-RateLimit-Remaining': value(whole, 'Requests left in that bucket'),
  'X-RateLimit-Reset': value(whole, 'Seconds until that bucket is full'),
  'X-Spend-Usd': value(usd, 'Settled spend of the project this month'),
  'X-Spend-Cap-Usd': value(usd, 'Monthly cap of the project'),
  'X-Customer-Spend-Today': value(usd, "Customer's spend today"),
  'X-Customer-Limit-Daily': value(usd, "Customer's daily limit"),
  'X-Customer-Remaining-Usd': value(usd, "Rest of the customer's daily limit"),
  'X-Idempotent-Replay': value({ type: 'string', const: 'true' }, 'Replayed answer, free of charge'),
  'X-LLM0-Run-Id': value(text, 'Agent run of MCP calls'),
  'X-LLM0-Dropped': value(text, 'Dropped parameters'),
  'X-Overhead-Ms': value({ type: 'number' }, "Time to the first byte without the provider's part"),
};
