// Without the hot store, other processes miss the news and use their entries until expiry.
import { parseJson } from '@llm0/core/chat/json';
import { resourceOf } from '@llm0/core/http-cache/cache-keys';
import type { CacheAsk, HttpCache } from '@llm0/core/http-cache/http-cache';
import type { HotStore } from '@llm0/core/limits/hot-store';
import * as z from 'zod';

const TOPIC = 'http-change ';

/** `resource` as the cache names it; `key`s of the shared store are of the project. */
const newsSchema = z.object({
  resource: z.string().regex(/^[0-9a-f]{64}$/),
  projectId: z.string().max(200),
  provider: z.string().max(200),
});
type News = z.infer<typeof newsSchema>;

type Store = Pick<HotStore, 'cacheWrite' | 'notify' | 'onNotify'>;

/** Has answers forgotten that an unsafe request may have changed: here, in the shared store, and in every process that uses it. */
export function createForgetting(cache: HttpCache, hotStore: Store): (ask: CacheAsk) => void {
  const own = `${TOPIC}${crypto.randomUUID()} `;
  const forget = ({ resource, projectId, provider }: News) => {
    for (const key of cache.invalidate(resource)) {
      hotStore.cacheWrite(projectId, { key, value: '', ttlMs: 1, provider, model: '' });
    }
  };
  hotStore.onNotify((topic) => {
    if (!topic.startsWith(TOPIC) || topic.startsWith(own)) return;
    const news = newsSchema.safeParse(parseJson(topic.slice(own.length)));
    if (news.success) forget(news.data);
  });
  return (ask) => {
    if (!cache.options.enabled) return;
    const news = { resource: resourceOf(ask), projectId: ask.projectId, provider: ask.provider };
    forget(news);
    if (cache.options.isShared) hotStore.notify(`${own}${JSON.stringify(news)}`).catch(() => {});
  };
}
