// A header that breaks the rules of W3C Trace Context is as good as none: the request is served, and begins a trace of its own.

/** Trace of a request: the caller's, or a new one. */
export interface TraceContext {
  /** 32 hex digits, not all zero. */
  readonly traceId: string;
  /** Flags as one byte: 1 = sampled, 2 = the trace id is random. */
  readonly flags: number;
  /** The caller's span, 16 hex digits. */
  readonly parentSpanId?: string;
  /** Original `tracestate`. */
  readonly state?: string;
}

const SAMPLED = 1;
const RANDOM = 2;
/** The flags that this revision of the standard knows. */
const KNOWN_FLAGS = SAMPLED | RANDOM;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ONLY_ZEROS = /^0+$/;
const FIRST_VERSION = '00';
const NO_VERSION = 'ff';
/** Longer headers are invalid, although later versions may add fields. */
const MAX_TRACEPARENT = 256;

/** Reads `traceparent` and `tracestate`; undefined without a valid one. */
export function parseTraceContext(traceparent: string, tracestate: string | null): TraceContext | undefined {
  if (traceparent.length > MAX_TRACEPARENT) return undefined;
  const [, version, traceId = '', parentSpanId = '', flags = '', more] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === NO_VERSION) return undefined;
  if (version === FIRST_VERSION && more !== undefined) return undefined;
  if (ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(parentSpanId)) return undefined;
  const state = tracestate === null ? undefined : parseTraceState(tracestate);
  return { traceId, parentSpanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS, state };
}

const MAX_STATE_LENGTH = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** `tracestate` without blanks around its members; undefined where one of them breaks the rules. */
export function parseTraceState(text: string): string | undefined {
  if (text.length > MAX_STATE_LENGTH) return undefined;
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MAX_STATE_MEMBERS) return undefined;
  const names = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  if (names.size < members.length || !members.every((member) => STATE_MEMBER.test(member))) return undefined;
  return members.join(',');
}

/** A new trace: its id is the request's, whose last half is random. */
export const traceOfRequest = (requestId: string): TraceContext => ({
  traceId: hexOf(requestId),
  flags: RANDOM,
});

/** The context with another sampling flag. */
export const withSampling = (context: TraceContext, isSampled: boolean): TraceContext => ({
  ...context,
  flags: isSampled ? context.flags | SAMPLED : context.flags & ~SAMPLED,
});

export const isSampled = ({ flags }: Pick<TraceContext, 'flags'>): boolean => (flags & SAMPLED) !== 0;

/** The headers that hand a trace on; `spanId`: of the span that the receiver's spans are part of. */
export function traceHeaders({ traceId, flags, state }: TraceContext, spanId: string): Record<string, string> {
  const traceparent = `${FIRST_VERSION}-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

/** A UUID's 32 hex digits. */
const hexOf = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase();

/** Attempts of one request; of more, the last ones share a span. */
const MOST_ATTEMPTS = 0x7fff;

/**
 * Span ids derive from the request's UUID, so nothing is stored. The request's span is the last half, with the first
 * bit set; its nth attempt has n in the first two bytes.
 */
export const requestSpanId = (requestId: string): string => lastHalf(requestId).toLowerCase();

/** `attempt` counts from 1. */
export const attemptSpanId = (requestId: string, attempt: number): string =>
  Math.min(attempt, MOST_ATTEMPTS).toString(16).padStart(4, '0') + lastHalf(requestId).slice(4).toLowerCase();

/** Second half of a UUID: `xxxxxxxx-xxxx-xxxx-1234-567890abcdef`. */
const lastHalf = (uuid: string): string => uuid.slice(19, 23) + uuid.slice(24);
