import { isObject, parseJson } from '@llm0/core/chat/json';
import { LRUCache } from 'lru-cache';
import { digestOf } from './ended-sessions';

/** A resource that a client with a session wants to hear of. */
export interface SessionResource {
  readonly alias: string;
  readonly uri: string;
}

export interface NoteNews {
  notify(topic: string): Promise<void>;
  onNotify(listener: (topic: string) => void): () => void;
}

const TOPIC = 'mcp-session-resource:';
const MAX_SESSIONS = 10_000;
const MAX_RESOURCES = 100;
const KEPT_MS = 3_600_000;

/** Subscriptions of clients with sessions, shared with all processes: the stream may be elsewhere. */
export class SessionNotes {
  private readonly resources = new LRUCache<string, Map<string, SessionResource>>({
    ...{ max: MAX_SESSIONS, ttl: KEPT_MS, updateAgeOnGet: true },
  });
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly stop: () => void;

  constructor(private readonly news: NoteNews) {
    this.stop = news.onNotify((topic) => {
      if (topic.startsWith(TOPIC)) this.take(topic.slice(TOPIC.length));
    });
  }

  /** Never throws: the next subscription covers a failure. */
  async note(sessionId: string, { alias, uri }: SessionResource, isWanted: boolean): Promise<void> {
    const told = JSON.stringify({ session: digestOf(sessionId), alias, uri, isWanted });
    this.take(told);
    await this.news.notify(`${TOPIC}${told}`).catch(() => {});
  }

  of(sessionId: string): readonly SessionResource[] {
    return [...(this.resources.get(digestOf(sessionId))?.values() ?? [])];
  }

  /** Calls back when the session's subscriptions change; returns the unsubscriber. */
  onChange(sessionId: string, listener: () => void): () => void {
    const session = digestOf(sessionId);
    const listeners = this.listeners.get(session) ?? new Set();
    this.listeners.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.listeners.delete(session);
    };
  }

  close(): void {
    this.stop();
  }

  private take(text: string): void {
    const told = parseJson(text);
    if (!isObject(told) || typeof told.session !== 'string') return;
    if (typeof told.alias !== 'string' || typeof told.uri !== 'string') return;
    const { session, alias, uri } = told;
    const known = this.resources.get(session) ?? new Map<string, SessionResource>();
    const name = `${alias}\n${uri}`;
    if (known.has(name) === (told.isWanted === true)) return;
    if (told.isWanted !== true) known.delete(name);
    else if (known.size < MAX_RESOURCES) known.set(name, { alias, uri });
    this.resources.set(session, known);
    for (const listener of this.listeners.get(session) ?? []) listener();
  }
}
