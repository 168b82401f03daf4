import { parseJson } from '@llm0/core/chat/json';
import type { CachePurge, HotStore } from '@llm0/core/limits/hot-store';

const TOPIC = 'http-cache ';

/** Makes every process drop matching cached answers of backends. */
export function tellPurge(hotStore: Pick<HotStore, 'notify'>, filter: CachePurge): Promise<void> {
  return hotStore.notify(`${TOPIC}${JSON.stringify(filter)}`);
}

export function onPurge(hotStore: Pick<HotStore, 'onNotify'>, purge: (filter: CachePurge) => void): void {
  hotStore.onNotify((topic) => {
    const filter = topic.startsWith(TOPIC) ? parseJson(topic.slice(TOPIC.length)) : undefined;
    if (typeof filter === 'object' && filter !== null) purge(filter as CachePurge);
  });
}
