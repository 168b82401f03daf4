// Reports a store that doesn't answer, within 1 s: a status page never hangs.

import { timingSafeEqual } from 'node:crypto';
import { inTime } from '@llm0/core/async/in-time';
import { backendProvider } from '@llm0/core/backends/backend';
import { DEFAULT_SEMANTIC_THRESHOLD } from '@llm0/core/cache/semantic/semantic-cache';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { checkedProvider, failingChecks } from '@llm0/core/routing/checked-provider';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import type { BackendProbe, Services, SinkState } from '../services/contract';

interface BackendHealth {
  readonly ok: boolean;
  readonly latency_ms?: number;
  /** Set unless closed: requests are refused, or one probes. */
  readonly breaker?: TargetStatus['mode'];
  readonly kind?: string;
  readonly detail?: string;
}

const CHECK_TIMEOUT_MS = 1000;

export function livez(): Response {
  return Response.json({ ok: true });
}

/**
 * 503 before the stores were reached once, and while draining. One that is away later is named, and no more: known keys and open
 * projects are served all the same, and a balancer would take away every replica at once.
 */
export async function readyz(services: Services): Promise<Response> {
  if (services.openRequests.isDraining) return Response.json({ ok: false, reason: 'draining' }, { status: 503 });
  const backends = await checkBackends(services);
  const ok = REACHED.get(services)?.size === Object.keys(backends).length;
  const away = Object.entries(backends).flatMap(([name, backend]) => (backend.ok ? [] : [name]));
  return Response.json({ ok, ...(away.length === 0 ? {} : { away }), backends }, { status: ok ? 200 : 503 });
}

/** Stores that answered since this process started. */
const REACHED = new WeakMap<Services, Set<string>>();

/** Resolves after the first check of the stores, so that an outage right after the start is recognized. */
export async function noteReached(services: Services): Promise<void> {
  await checkBackends(services);
}

/** Reports rows that wait longer: the database takes none, or too few. */
const QUEUE_LATE_MS = 60_000;

/** 503 while a store is away, takes no changes, or rows of the log do not get there. */
export async function healthz(services: Services): Promise<Response> {
  const [backends, depth, sinks] = await Promise.all([
    checkBackends(services),
    withTimeout(services.hotStore.depth(), undefined),
    withTimeout(services.logSinks(), []),
  ]);
  const queue = depth && {
    ...{ ok: depth.oldestAgeMs < QUEUE_LATE_MS, entries: depth.entries, oldest_age_ms: Math.round(depth.oldestAgeMs) },
  };
  const ok = queue?.ok !== false && Object.values(backends).every((backend) => backend.ok);
  const page = {
    ok,
    service: 'llm0-gateway',
    version: services.version,
    uptime_ms: Math.round(services.clock.monotonicMs() - services.startedMs),
    backends: { ...(await probeHttpBackends(services)), ...backends },
    log_queue: queue,
    ...(sinks.length === 0 ? {} : { log_sinks: sinks.map((sink) => showSink(sink, services.clock.nowMs())) }),
    targets: services.health.list().filter(isShown).map(showTarget),
    drained: drainedProviders(services),
    failing_checks: failingChecks(services.health.list()),
  };
  return Response.json(page, { status: ok ? 200 : 503 });
}

/** The gateway is healthy without them: rows wait in Postgres. */
const showSink = ({ name, problem, failingSinceMs, waitingSinceMs }: SinkState, nowMs: number) => ({
  ...{ name, ok: problem === null, lag_ms: lagOf({ waitingSinceMs }, nowMs) },
  ...(problem === null ? {} : { problem, failing_since: new Date(failingSinceMs ?? nowMs).toISOString() }),
});

const lagOf = ({ waitingSinceMs }: Pick<SinkState, 'waitingSinceMs'>, nowMs: number): number =>
  waitingSinceMs === null ? 0 : Math.max(0, Math.round(nowMs - waitingSinceMs));

/** State of HTTP backends; the gateway is healthy without them. */
async function probeHttpBackends(services: Services): Promise<Record<string, BackendHealth>> {
  const probes = await withTimeout(services.backends.probeAll(), new Map<string, BackendProbe>());
  const states = new Map(services.health.list().map((state) => [state.provider, state]));
  return Object.fromEntries(
    [...probes].map(([name, probe]) => [name, showProbe(probe, states.get(backendProvider(name)))]),
  );
}

/** One that answers its probe and is not asked, because requests failed, is not up. */
export function showProbe({ ok, latencyMs, detail }: BackendProbe, state: TargetStatus | undefined): BackendHealth {
  const shown = { ok, kind: 'http', latency_ms: latencyMs, detail };
  if (state === undefined || !isInTrouble(state)) return shown;
  const { mode, openForMs, coolForMs } = state;
  const seconds = Math.ceil(Math.max(openForMs, coolForMs) / 1000);
  const cause = mode === 'closed' ? 'it sent Retry-After' : 'requests failed';
  const why = seconds > 0 ? `${cause}: no call for another ${seconds} s` : `${cause}: one probe is due`;
  return { ...shown, ok: false, detail: detail ?? why, ...(mode === 'closed' ? {} : { breaker: mode }) };
}

/** Names of providers that the operator took out of service. */
const drainedProviders = ({ routing }: Pick<Services, 'routing'>): readonly string[] =>
  [...routing().providers.values()].flatMap(({ name, isDrained }) => (isDrained === true ? [name] : []));

const isInTrouble = ({ mode, coolForMs }: TargetStatus) => mode !== 'closed' || coolForMs > 0;

const isShown = (target: TargetStatus) => isInTrouble(target) && checkedProvider(target) === undefined;

/** A target that is not asked right now, or only once to see. */
function showTarget({ provider, model, mode, openForMs, coolForMs }: TargetStatus) {
  return { provider, model, breaker: mode, open_for_ms: Math.ceil(openForMs), cool_down_ms: Math.ceil(coolForMs) };
}

/** Gives the metrics of all processes on this port; `own` are this one's. */
export type GatherMetrics = (own: () => Promise<string>) => Promise<string>;

export async function metricsPage(
  services: Services,
  request: Request,
  gather: GatherMetrics = (own) => own(),
): Promise<Response> {
  const { metrics, config } = services;
  if (config.metricsToken !== undefined) requireBearer(request, config.metricsToken);
  await refreshGauges(services);
  return new Response(await gather(() => metrics.registry.metrics()), {
    headers: { 'Content-Type': metrics.registry.contentType },
  });
}

/** Values computed on demand. */
export async function refreshGauges(services: Services): Promise<void> {
  const { metrics } = services;
  metrics.inFlight.set(services.openRequests.count);
  metrics.openHolds.set(services.leases.size);
  metrics.queued.set(services.turns.size);
  metrics.showTargets(services.health.list());
  metrics.showDrained(drainedProviders(services));
  metrics.residentBytes.set(process.memoryUsage.rss());
  const [depth, holds, cache, backends, sinks] = await Promise.all([
    withTimeout(services.hotStore.depth(), undefined),
    withTimeout(services.hotStore.openHolds(), undefined),
    withTimeout(services.hotStore.cacheStats(), undefined),
    checkBackends(services),
    withTimeout(services.logSinks(), []),
  ]);
  for (const sink of sinks) metrics.sinkLag.set({ sink: sink.name }, lagOf(sink, services.clock.nowMs()));
  for (const [store, health] of Object.entries(backends)) {
    metrics.storeUp.set({ store }, health.ok ? 1 : 0);
    if (health.latency_ms !== undefined) metrics.storePing.set({ store }, health.latency_ms);
  }
  if (holds !== undefined) metrics.storeHolds.set(holds);
  if (cache !== undefined) {
    metrics.cacheEntries.set(cache.entries);
    metrics.cacheBytes.set(cache.bytes);
  }
  if (depth !== undefined) {
    metrics.queueDepth.set(depth.entries);
    metrics.queueAge.set(depth.oldestAgeMs);
  }
}

/** Compares in constant time; throws 401. */
function requireBearer(request: Request, wanted: string): void {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  const message = 'Send METRICS_TOKEN as "Authorization: Bearer <METRICS_TOKEN>".';
  if (given === undefined) throw new GatewayError('missing_api_key', message);
  const digest = (token: string) => Buffer.from(hashSecret(token), 'hex');
  if (!timingSafeEqual(digest(given), digest(wanted))) throw new GatewayError('invalid_api_key', message);
}

export async function cachez(services: Services): Promise<Response> {
  const { exact, semantic, miss } = services.metrics.cache;
  const asked = exact + semantic + miss;
  const stats = await withTimeout(services.hotStore.cacheStats(), { entries: 0, bytes: 0 });
  return Response.json({
    hits: exact,
    misses: miss,
    hit_ratio: asked === 0 ? 0 : (exact + semantic) / asked,
    semantic_hits: semantic,
    warm_hits: services.metrics.warmHits,
    backend: services.hotStore.kind,
    ttl: services.config.cacheTtlSeconds,
    entries: stats.entries,
    bytes: stats.bytes,
    semantic_threshold: DEFAULT_SEMANTIC_THRESHOLD,
    infer: inferCachez(services),
  });
}

/** Counts of this process. With Redis, the exact cache holds the entries; each process validates them. */
function inferCachez({ backends, config }: Pick<Services, 'backends' | 'config'>) {
  const { hit: hits, miss: misses, stale } = backends.cache.counts;
  const asked = hits + misses + stale;
  const { enabled, kind: backend, ttlMs } = config.httpCache;
  return {
    ...{ enabled, backend, ttl: ttlMs / 1000, hits, misses, stale },
    hit_ratio: asked === 0 ? 0 : (hits + stale) / asked,
    ...backends.cache.stats,
    max_entries: config.httpCache.maxEntries,
  };
}

async function checkBackends(services: Services): Promise<Record<string, BackendHealth>> {
  const [hotStore, postgres] = await Promise.all([
    withTimeout(services.hotStore.health(), { ok: false, detail: 'no answer within 1 s' }),
    withTimeout(services.databaseHealth(), { ok: false, detail: 'no answer within 1 s' }),
  ]);
  const show = (
    { ok, latencyMs: latency_ms, detail }: { ok: boolean; latencyMs?: number; detail?: string },
    kind: string,
  ): BackendHealth => ({ ok, kind, latency_ms, detail });
  const backends = {
    hot_store: show(hotStore, services.hotStore.kind),
    postgres: show(postgres, services.config.databaseUrl === undefined ? 'embedded' : 'postgres'),
  };
  const reached = REACHED.getOrInsertComputed(services, () => new Set());
  for (const [name, { ok }] of Object.entries(backends)) if (ok) reached.add(name);
  return backends;
}

function withTimeout<T, F>(work: Promise<T>, fallback: F): Promise<T | F> {
  const onLate = () => fallback;
  return inTime(work.catch(onLate), CHECK_TIMEOUT_MS, onLate);
}
