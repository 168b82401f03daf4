import type { Part } from './document-parts';

const header = (name: string, schema: Part, description: string): Part => ({
  ...{ name, in: 'header', required: false, schema, description },
});
const text = { type: 'string' } as const;

/** `components.parameters`: headers that the gateway itself understands. Others named `X-LLM0-…` are labels. */
export const PARAMETERS: Readonly<Record<string, Part>> = {
  CustomerId: header('X-Customer-ID', { type: 'string', maxLength: 256 }, 'Whose limits hold and who is charged'),
  RunId: header('X-LLM0-Run-Id', text, "The agent's run it belongs to"),
  Session: header(
    'X-LLM0-Session',
    { type: 'string', maxLength: 256 },
    'The conversation it belongs to: it stays with the target whose prompt cache is warm',
  ),
  Label: header(
    'X-LLM0-Team',
    { type: 'string', maxLength: 256 },
    'Any further `X-LLM0-<Name>` is a label of the request (16 at most), here `team`; see logs and statistics',
  ),
  Cache: header('X-LLM0-Cache', { type: 'string', enum: ['on', 'off', 'refresh'] }, '`refresh` renews the entry'),
  CacheTtl: header('X-LLM0-Cache-TTL', { type: 'integer', minimum: 1, maximum: 31_536_000 }, 'Seconds'),
  CacheThreshold: header(
    'X-LLM0-Cache-Threshold',
    { type: 'number', minimum: 0, maximum: 1 },
    "Similarity the semantic cache asks for, where it is more than the project's",
  ),
  CacheControl: header('Cache-Control', text, '`no-store`: neither read nor kept; `no-cache`: renewed'),
  DropParams: header(
    'X-LLM0-Drop-Params',
    { type: 'string', enum: ['true', 'false'] },
    'Leave out what the vendor does not take instead of refusing it; named in `X-LLM0-Dropped`',
  ),
  Failover: header(
    'X-LLM0-Failover',
    { type: 'string', enum: ['off'] },
    'Ask one target of the name that was sent, and no other: no stand-in, no larger model',
  ),
  TimeoutMs: header(
    'X-LLM0-Timeout-Ms',
    { type: 'integer', minimum: 1 },
    'Milliseconds that one attempt may take: a stream to its first event, another answer to its end. It only lowers the limit',
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    { type: 'string', minLength: 1, maxLength: 255 },
    'The same key, API key and body within 24 h give the first answer again',
  ),
  ClientRequestId: header('X-Request-Id', text, "The caller's own name for the request, kept as `client_request_id`"),
  Traceparent: header(
    'traceparent',
    { type: 'string', pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}' },
    'W3C trace of the caller: goes on to the vendor, with `tracestate`, and stands on the row as `trace_id`',
  ),
};

/** What chat endpoints take. */
export const CHAT_HEADERS = Object.keys(PARAMETERS);
/** What every request that has a row takes. */
export const ROW_HEADERS = ['CustomerId', 'RunId', 'Label', 'ClientRequestId', 'Traceparent'];

const value = (schema: Part, description: string): Part => ({ schema, description });
const usd = { type: 'string', pattern: '^\\d+\\.\\d{9}$' } as const;
const whole = { type: 'integer' } as const;

/** Response headers by name; each where it applies. */
export const RESPONSE_HEADERS: Readonly<Record<string, Part>> = {
  'X-Request-Id': value({ type: 'string', format: 'uuid' }, 'UUIDv7; the row in the log has it'),
  'X-Provider': value(text, 'Who answered'),
  'X-Model': value(text, 'Which model answered'),
  'X-Cache-Hit': value({ type: 'string', enum: ['exact', 'semantic', 'miss'] }, 'Where the answer came from'),
  'X-Cache': value({ type: 'string', enum: ['HIT', 'MISS', 'STALE'] }, 'Of plain HTTP backends'),
  'X-Cache-Similarity': value({ type: 'number' }, 'Of a semantic hit'),
  'X-Cost-Usd': value(usd, 'Of plain answers; 0.000000000 for hits'),
  'X-Tokens-Prompt': value(whole, 'Of plain answers'),
  'X-Tokens-Completion': value(whole, 'Of plain answers'),
  'X-Tokens-Total': value(whole, 'Of plain answers'),
  'X-Failover': value({ type: 'string', const: 'true' }, 'Another target than the first one answered'),
  'X-Original-Provider': value(text, 'Who was asked first'),
  'X-Downgraded-From': value(text, "The model asked for, where a customer's limit chose another"),
  'X-Warning': value(text, 'A limit is near or passed, or limits could not be checked'),
  'X-RateLimit-Limit': value(whole, 'Requests a minute of the tightest bucket'),
  'X-RateLimit-Remaining': value(whole, 'What is left in it'),
  'X-RateLimit-Reset': value(whole, 'Seconds until it is full'),
  'X-Spend-Usd': value(usd, "The project's settled spend of the month"),
  'X-Spend-Cap-Usd': value(usd, 'Its cap'),
  'X-Customer-Spend-Today': value(usd, "The customer's spend of the day"),
  'X-Customer-Limit-Daily': value(usd, 'Its daily limit'),
  'X-Customer-Remaining-Usd': value(usd, 'What is left of it'),
  'X-Idempotent-Replay': value({ type: 'string', const: 'true' }, 'An earlier answer, which costs nothing again'),
  'X-LLM0-Run-Id': value(text, "The agent's run, of MCP"),
  'X-LLM0-Dropped': value(text, 'Parameters that were left out'),
  'X-Overhead-Ms': value({ type: 'number' }, "Time to the first byte less the wait for the vendor: the gateway's own"),
};
