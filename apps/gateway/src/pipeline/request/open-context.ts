import type { Held } from '@llm0/core/async/room';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Modality } from '@llm0/core/logs/log-record';
import { parseUsd } from '@llm0/core/pricing/format-usd';
import type { RequestTrace } from '@llm0/core/tracing/request-trace';
import type { Services } from '../../services/contract';

/** `off`: no cache; `refresh`: only writes. */
export type CacheMode = 'normal' | 'off' | 'refresh';

/** Controls from the caller's headers. */
export interface RequestControls {
  readonly cache: CacheMode;
  readonly cacheTtlSeconds?: number;
  readonly cacheThreshold?: number;
  /** Absent = key and project decide. */
  readonly dropParams?: boolean;
  /** Only the first target; absent = key, alias and project decide. */
  readonly failover?: 'off';
  /** Milliseconds that an attempt may take at most. */
  readonly timeoutMs?: number;
  /** Budget of the run; only its first request sets it. */
  readonly runBudgetNanoUsd?: number;
  /** Names of guardrails that must block. */
  readonly guardrail?: string;
}

/** One request, before its credentials and body are read. The variable is `ctx` everywhere. */
export interface RequestContext {
  /** UUIDv7; `X-Request-Id`. */
  readonly requestId: string;
  readonly startMs: number;
  readonly clientRequestId?: string;
  readonly customerId?: string;
  /** The agent's run that it belongs to, by its caller's word. */
  readonly runId?: string;
  /** `X-LLM0-Session`: the conversation it belongs to, by its caller's word. */
  readonly session?: string;
  /** The trace it is part of, where its caller names one or tracing is on. */
  readonly trace?: RequestTrace;
  /** Its row's, unless the format tells another. */
  readonly modality?: Modality | undefined;
  /** A vendor has answered it, and bills it: no limit applies. */
  readonly isSpent?: true | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly controls: RequestControls;
  /** Memory that it holds. */
  readonly held: Held;
}

const MAX_LABELS = 16;
const MAX_LABEL_LENGTH = 256;
const MAX_CUSTOMER_ID_LENGTH = 256;
const OWN_PREFIX = 'x-llm0-';
/** `X-LLM0-*` headers with their own meaning, which are never labels. */
const RESERVED = new Set([
  ...['cache', 'cache-ttl', 'cache-threshold', 'drop-params', 'dropped', 'run-id', 'session', 'guardrail'],
  ...['failover', 'timeout-ms', 'run-budget-usd'],
]);

interface OpenedBy extends Pick<RequestContext, 'held'> {
  /** Set where the gateway's own parts ask. */
  readonly chosen?: Partial<Pick<RequestContext, 'requestId' | 'modality' | 'isSpent'>> | undefined;
}

/** Reads the request's headers; throws `invalid_request` for invalid controls. */
export function openContext(
  services: Pick<Services, 'clock' | 'createId' | 'tracing'>,
  request: Request,
  { held, chosen }: OpenedBy,
): RequestContext {
  const { headers } = request;
  const requestId = chosen?.requestId ?? services.createId();
  let hasOwn = false;
  for (const name of headers.keys()) hasOwn ||= name.startsWith(OWN_PREFIX);
  return {
    requestId,
    startMs: services.clock.monotonicMs(),
    clientRequestId: headers.get('x-request-id')?.slice(0, MAX_LABEL_LENGTH) ?? undefined,
    customerId: headers.get('x-customer-id')?.trim().slice(0, MAX_CUSTOMER_ID_LENGTH) || undefined,
    runId: hasOwn ? readRunId(headers) : undefined,
    session: hasOwn ? headers.get('x-llm0-session')?.slice(0, MAX_LABEL_LENGTH) || undefined : undefined,
    modality: chosen?.modality,
    isSpent: chosen?.isSpent,
    trace: services.tracing.begin(headers, requestId),
    labels: hasOwn ? readLabels(headers) : undefined,
    controls: hasOwn || headers.has('cache-control') ? readControls(headers) : NORMAL_CONTROLS,
    held,
  };
}

function readLabels(headers: Headers): RequestContext['labels'] {
  let labels: Record<string, string> | undefined;
  let count = 0;
  for (const name of headers.keys()) {
    if (!name.startsWith(OWN_PREFIX)) continue;
    const label = name.slice(OWN_PREFIX.length);
    if (label === '' || RESERVED.has(label) || count >= MAX_LABELS) continue;
    labels ??= {};
    labels[label] = headers.get(name)?.slice(0, MAX_LABEL_LENGTH) ?? '';
    count += 1;
  }
  return labels;
}

const NORMAL_CONTROLS: RequestControls = { cache: 'normal' };

function readControls(headers: Headers): RequestControls {
  const cacheControl = headers.get('cache-control');
  const own = headers.get('x-llm0-cache');
  const ttl = headers.get('x-llm0-cache-ttl');
  const threshold = headers.get('x-llm0-cache-threshold');
  const drop = headers.get('x-llm0-drop-params');
  const guardrail = headers.get('x-llm0-guardrail');
  const failover = headers.get('x-llm0-failover');
  const timeout = headers.get('x-llm0-timeout-ms');
  const runBudget = headers.get(RUN_BUDGET);
  const isPlain = cacheControl === null && own === null && ttl === null && threshold === null;
  const hasOthers = drop !== null || guardrail !== null || failover !== null || timeout !== null || runBudget !== null;
  if (isPlain && !hasOthers) return NORMAL_CONTROLS;
  return {
    cache: cacheMode(own, cacheControl),
    cacheTtlSeconds: ttl === null ? undefined : headerNumber('X-LLM0-Cache-TTL', ttl, { min: 1, max: 31_536_000 }),
    cacheThreshold:
      threshold === null ? undefined : headerNumber('X-LLM0-Cache-Threshold', threshold, { min: 0, max: 1 }),
    dropParams: drop === null ? undefined : readFlag('X-LLM0-Drop-Params', drop),
    ...(guardrail === null ? {} : { guardrail }),
    ...(timeout === null ? {} : { timeoutMs: headerNumber('X-LLM0-Timeout-Ms', timeout, TIMEOUT_RANGE) }),
    ...(runBudget === null ? {} : { runBudgetNanoUsd: readRunBudget(headers, runBudget) }),
    ...(failover !== null && isFailoverOff(failover) ? { failover: 'off' } : {}),
  };
}

/** The value only lowers a limit, so it needs no upper bound. */
const TIMEOUT_RANGE = { min: 1, max: Number.MAX_SAFE_INTEGER };

function cacheMode(own: string | null, cacheControl: string | null): CacheMode {
  const wanted = own?.trim().toLowerCase();
  if (wanted === 'off' || wanted === 'refresh') return wanted;
  if (wanted !== undefined && wanted !== 'on') {
    throw invalidRequest('X-LLM0-Cache', 'X-LLM0-Cache must be "off" or "refresh".');
  }
  if (cacheControl === null) return 'normal';
  if (/\bno-store\b/i.test(cacheControl)) return 'off';
  return /\bno-cache\b/i.test(cacheControl) ? 'refresh' : 'normal';
}

/** Callers may forgo failover, and no more: `on` leaves it to key, alias and project. */
function isFailoverOff(text: string): boolean {
  const value = text.trim().toLowerCase();
  if (value === 'on' || value === 'off') return value === 'off';
  throw invalidRequest('X-LLM0-Failover', 'X-LLM0-Failover must be "off".');
}

function readFlag(name: string, text: string): boolean {
  const value = text.trim().toLowerCase();
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalidRequest(name, `${name} must be "true" or "false".`);
}

function headerNumber(name: string, text: string, range: { min: number; max: number }): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < range.min || value > range.max) {
    throw invalidRequest(name, `${name} must be a number from ${range.min} to ${range.max}.`);
  }
  return value;
}

const RUN_ID_HEADER = 'x-llm0-run-id';
const RUN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's run id; undefined without one. Throws `invalid_request`. */
export function readRunId(headers: Headers): string | undefined {
  const sent = headers.get(RUN_ID_HEADER)?.trim();
  if (sent === undefined || sent === '') return undefined;
  if (RUN_ID.test(sent)) return sent;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Id must be 1 to 128 letters, digits or any of ". _ : -".');
}

const RUN_BUDGET = 'x-llm0-run-budget-usd';

/** Budget of the caller's run in nano-USD. Throws `invalid_request`. */
function readRunBudget(headers: Headers, text: string): number {
  const nanoUsd = parseUsd(text);
  if (nanoUsd === undefined || nanoUsd < 0) {
    throw invalidRequest(
      'X-LLM0-Run-Budget-Usd',
      'X-LLM0-Run-Budget-Usd must be an amount in USD, at most 9 decimals.',
    );
  }
  if ((headers.get(RUN_ID_HEADER) ?? '').trim() !== '') return nanoUsd;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Budget-Usd needs X-LLM0-Run-Id, the name of the run.');
}
