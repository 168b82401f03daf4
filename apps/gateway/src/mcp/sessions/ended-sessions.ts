import { LRUCache } from 'lru-cache';

const TOPIC = 'mcp-session-ended:';
const MAX_SESSIONS = 20_000;
const KEPT_MS = 24 * 3_600_000;

export interface SessionNews {
  notify(topic: string): Promise<void>;
  onNotify(listener: (topic: string) => void): () => void;
}

/** Sessions that clients ended; shared with every process. */
export class EndedSessions {
  private readonly ended = new LRUCache<string, true>({ max: MAX_SESSIONS, ttl: KEPT_MS });
  private readonly stop: () => void;

  constructor(private readonly news: SessionNews) {
    this.stop = news.onNotify((topic) => {
      if (topic.startsWith(TOPIC)) this.ended.set(topic.slice(TOPIC.length), true);
    });
  }

  has(sessionId: string): boolean {
    return this.ended.size > 0 && this.ended.has(digestOf(sessionId));
  }

  async end(sessionId: string): Promise<void> {
    this.ended.set(digestOf(sessionId), true);
    await this.news.notify(`${TOPIC}${digestOf(sessionId)}`).catch(() => {});
  }

  close(): void {
    this.stop();
  }
}

export const digestOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('base64url');
