/** Headers that belong to one connection. Source: https://www.rfc-editor.org/rfc/rfc9110#field.connection */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authenticate', 'proxy-authorization', 'http2-settings'],
]);

/** Standard headers of a request and its body. Other headers, such as those of sign-in proxies, stay here. */
const USUAL_REQUEST: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-language', 'user-agent', 'prefer', 'last-event-id', 'idempotency-key'],
  ...['content-type', 'content-encoding', 'content-language', 'content-disposition', 'content-range', 'content-md5'],
  ...['content-digest', 'repr-digest', 'digest', 'cache-control', 'pragma', 'range', 'if-range'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'x-client-request-id'],
  // Application names (OpenRouter), and headers of coding agents.
  ...[
    'http-referer',
    'x-title',
    'x-app',
    'x-client-name',
    'x-initiator',
    'originator',
    'session_id',
    'conversation_id',
  ],
  ...['x-ms-client-request-id', 'x-ms-useragent'],
]);
/** Prefixes of headers that vendors' own clients send. */
const VENDOR_REQUEST_PREFIXES = [
  ...['anthropic-', 'openai-', 'x-stainless-', 'x-goog-', 'x-codex-', 'x-grok-', 'x-fern-', 'mistral-', 'groq-'],
  ...['cohere-', 'deepseek-', 'fireworks-', 'together-', 'x-openrouter-'],
] as const;
/** Exceptions: client identity, billing account and credentials. */
const OWN_REQUEST: ReadonlySet<string> = new Set([
  ...['openai-organization', 'openai-project', 'anthropic-organization-id', 'anthropic-workspace-id'],
  ...['x-goog-api-key', 'x-goog-user-project'],
]);
const OWN_REQUEST_PREFIXES = ['x-goog-authenticated-', 'x-goog-iap-', 'x-goog-iam-'] as const;
/** Headers that remove usage or change the request. */
const HIDES: ReadonlySet<string> = new Set([
  ...['x-goog-fieldmask', 'x-goog-fields', 'x-http-method-override', 'x-http-method', 'x-method-override'],
]);
/** Headers that choose model or hardware; path and body were checked instead. */
const CHOOSES = /(?:^|-)(?:models?|fallbacks?|deployment)(?:-|$)|^x-amzn-bedrock-/;
/** True for a request header that would hide usage in the answer. */
export function hidesUsage(name: string): boolean {
  return HIDES.has(name) || CHOOSES.test(name);
}

/** Headers for the operator only, or set by this gateway. */
const OWN_RESPONSE: ReadonlySet<string> = new Set([
  ...['content-length', 'set-cookie', 'set-cookie2', 'strict-transport-security', 'alt-svc', 'server', 'via', 'date'],
  ...[
    'x-request-id',
    'openai-organization',
    'openai-project',
    'anthropic-organization-id',
    'location',
    'clear-site-data',
  ],
]);
const OWN_RESPONSE_PREFIXES = ['access-control-', 'cf-', 'x-spend-', 'x-customer-', 'x-llm0-', 'proxy-'] as const;

/** The caller's headers for the vendor, in lower case: the usual ones, and those of vendors' clients. */
export function forwardedRequestHeaders(headers: Headers): Record<string, string> {
  return keep(headers, isForwarded);
}

function isForwarded(name: string): boolean {
  if (hidesUsage(name)) return false;
  if (USUAL_REQUEST.has(name)) return true;
  const isVendors = VENDOR_REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix));
  return isVendors && !OWN_REQUEST.has(name) && !OWN_REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The vendor's headers for the caller; its request id has another name. */
export function forwardedResponseHeaders(headers: Headers): Record<string, string> {
  const kept = keep(headers, isReturned);
  const upstreamId = headers.get('x-request-id') ?? headers.get('request-id');
  if (upstreamId !== null) kept['x-upstream-request-id'] = upstreamId;
  return kept;
}

const isReturned = (name: string): boolean =>
  !HOP_BY_HOP.has(name) && !OWN_RESPONSE.has(name) && !OWN_RESPONSE_PREFIXES.some((prefix) => name.startsWith(prefix));

function keep(headers: Headers, isKept: (name: string) => boolean): Record<string, string> {
  const named = (headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (isKept(name) && !named.includes(name)) kept[name] = value;
  });
  return kept;
}
