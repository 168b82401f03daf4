// Without the hot store, each process only knows its own answers.
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Logger } from 'pino';

const TOPIC = 'warm ';

/** Shares the targets of conversations between processes. A process ignores its own messages. */
export function createWarmNews(hotStore: Pick<HotStore, 'notify' | 'onNotify'>, log: Pick<Logger, 'debug'>) {
  const own = `${TOPIC}${crypto.randomUUID()} `;
  return {
    tell: (news: string): void => {
      hotStore.notify(`${own}${news}`).catch((err: unknown) => {
        log.debug({ err }, 'where conversations were answered could not be told to the other gateways');
      });
    },
    listen: (hear: (news: string) => void): void => {
      hotStore.onNotify((topic) => {
        if (topic.startsWith(TOPIC) && !topic.startsWith(own)) hear(topic.slice(own.length));
      });
    },
  };
}
