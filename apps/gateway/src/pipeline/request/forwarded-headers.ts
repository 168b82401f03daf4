/** Headers that belong to one connection. Source: https://www.rfc-editor.org/rfc/rfc9110#field.connection */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authenticate', 'proxy-authorization', 'http2-settings'],
]);

/** Headers for the gateway, and headers that would act in the operator's name. */
const OWN_REQUEST: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'accept-encoding', 'cookie', 'x-request-id', 'x-customer-id', 'forwarded', 'via'],
  ...['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-real-ip'],
  // Judged, and set anew by the trace itself.
  ...['traceparent', 'tracestate'],
  // Whose account is billed is the operator's decision.
  ...['openai-organization', 'openai-project', 'anthropic-organization-id', 'anthropic-workspace-id'],
  ...['x-goog-user-project', 'x-goog-iam-authorization-token', 'x-goog-iam-authority-selector', 'x-auth-token'],
  // What makes another request of the one that was checked.
  ...['x-http-method', 'x-http-method-override', 'x-method-override', 'x-rewrite-url', 'x-host', 'x-client-ip'],
]);
/** They take usage out of an answer, or make another request of it. */
const HIDES: ReadonlySet<string> = new Set([
  ...['x-goog-fieldmask', 'x-goog-fields', 'x-http-method-override', 'x-http-method', 'x-method-override'],
]);
/** Headers that choose model or hardware; path and body were checked instead. */
const CHOOSES = /(?:^|-)(?:models?|fallbacks?|deployment)(?:-|$)|^x-amzn-bedrock-/;
const OWN_REQUEST_PREFIXES = [
  ...['x-llm0-', 'x-forwarded', 'x-original-', 'x-amz-', 'x-envoy-', 'sec-', 'cf-', 'true-client-', 'proxy-'],
] as const;

/** True for a request's header that is left out for the sake of what it would do to the answer. */
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

/** The caller's headers for the vendor: lower-case names, no credentials, nothing of the connection. */
export function forwardedRequestHeaders(headers: Headers): Record<string, string> {
  return keep(headers, OWN_REQUEST, OWN_REQUEST_PREFIXES);
}

/** The vendor's headers for the caller; its request id comes under another name. */
export function forwardedResponseHeaders(headers: Headers): Record<string, string> {
  const kept = keep(headers, OWN_RESPONSE, OWN_RESPONSE_PREFIXES);
  const upstreamId = headers.get('x-request-id') ?? headers.get('request-id');
  if (upstreamId !== null) kept['x-upstream-request-id'] = upstreamId;
  return kept;
}

function keep(headers: Headers, own: ReadonlySet<string>, prefixes: readonly string[]): Record<string, string> {
  const named = (headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (HOP_BY_HOP.has(name) || own.has(name) || named.includes(name)) return;
    if (own === OWN_REQUEST && hidesUsage(name)) return;
    if (prefixes.some((prefix) => name.startsWith(prefix))) return;
    kept[name] = value;
  });
  return kept;
}
