import { afterEach } from 'bun:test';
import type { GuardrailPolicy } from '@llm0/core/guardrails/policy';
import { HttpCache } from '@llm0/core/http-cache/http-cache';
import { HttpFlights } from '@llm0/core/http-cache/http-flights';
import type { ApiKey, Project } from '@llm0/core/keys/api-key';
import { createForgetting } from '../../backends/change-news';
import { openaiChat } from '../../dialects/openai-chat/index';
import type { Services } from '../../services/contract';
import { openPipeline, SECRET } from '../open-pipeline.fixture';
import { handleInfer } from './handle-infer';
import type { InferBackend } from './plan-infer';

export const CACHE_KINDS = ['memory', 'shared'] as const;
export type CacheKind = (typeof CACHE_KINDS)[number];

/** The origin's answer to one request. */
export type Origin = (request: Request, seen: number) => Response | Promise<Response>;

export interface InferOptions {
  readonly kind?: CacheKind;
  readonly backend?: Partial<InferBackend>;
  readonly project?: Partial<Project>;
  readonly key?: Partial<ApiKey>;
  readonly policy?: GuardrailPolicy;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
  readonly maxEntryBytes?: number;
  readonly ttlMs?: number;
  readonly idleTimeoutMs?: number;
}

export const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** A gateway without a server, one backend named `py`, and a clock that tests set. */
export async function openInfer(options: InferOptions = {}) {
  const world = {
    nowMs: START_MS,
    origin: (() => new Response('hello')) as Origin,
    asked: [] as Request[],
  };
  const nowMs = () => world.nowMs;
  const { project, key, policy } = options;
  const pipeline = await openPipeline({ nowMs, project, key, policy });
  const fetch = (async (url: string, init: RequestInit) => {
    const request = new Request(url, init);
    world.asked.push(request);
    return world.origin(request, world.asked.length);
  }) as unknown as typeof globalThis.fetch;
  const backend: InferBackend = {
    ...{
      name: 'py',
      url: 'http://origin.test',
      headers: {},
      forwardHeaders: [],
      pricePerRequestNanoUsd: 1000,
      timeoutMs: 2000,
      retries: 0,
    },
    ...{ cache: { enabled: true, ttlSeconds: null }, isActive: true, isUnreadable: false, revision: 'one', fetch },
    ...options.backend,
  };
  const newCache = () =>
    new HttpCache({
      ...{ enabled: true, isShared: options.kind === 'shared', nowMs },
      ...{ maxEntries: options.maxEntries ?? 1000, maxBytes: options.maxBytes ?? 1_000_000 },
      maxEntryBytes: options.maxEntryBytes ?? 100_000,
    });
  const caching = () => {
    const cache = newCache();
    return { cache, flights: new HttpFlights(), forget: createForgetting(cache, pipeline.services.hotStore) };
  };
  const backends = {
    find: (name: string) => (name === 'py' ? backend : undefined),
    list: () => [backend],
    probeAll: async () => new Map(),
    ...caching(),
  };
  const config = {
    ...pipeline.services.config,
    ...{ maxResponseBytes: 1_000_000, httpCache: { ttlMs: options.ttlMs ?? 60_000 } },
    ...(options.idleTimeoutMs === undefined ? {} : { streamIdleTimeoutMs: options.idleTimeoutMs }),
  };
  const services = {
    ...pipeline.services,
    backends,
    config,
    log: { ...pipeline.services.log, debug: () => {} },
  } as unknown as Services;
  const as =
    (parts: Services) =>
    (path: string, init: RequestInit & { key?: string } = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${init.key ?? SECRET}`);
      return handleInfer(parts, openaiChat, new Request(`http://gateway.test/infer/py${path}`, { ...init, headers }));
    };
  return {
    ...pipeline,
    ...{ world, services, backend, backends },
    ask: as(services),
    /** Another process with the same store. */
    other: () => as({ ...services, backends: { ...backends, ...caching() } }),
    /** Seconds pass. */
    wait: (seconds: number) => {
      world.nowMs += seconds * 1000;
    },
    /** The `Date` of now. */
    date: (offsetSeconds = 0) => new Date(world.nowMs + offsetSeconds * 1000).toUTCString(),
  };
}

export type InferUnderTest = Awaited<ReturnType<typeof openInfer>>;

/** Opens one for the test that asks, and closes it after that. */
export function inferForEachTest(): (options?: InferOptions) => Promise<InferUnderTest> {
  let opened: InferUnderTest | undefined;
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return async (options) => {
    opened = await openInfer(options);
    return opened;
  };
}

/** Entries that a cache may keep for a minute. */
export const cached = (body: BodyInit, more: Record<string, string> = {}) =>
  new Response(body, { headers: { 'cache-control': 'max-age=60', ...more } });
export const cacheOf = (response: Response) => response.headers.get('x-cache');
