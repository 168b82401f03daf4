// If a server forgets a session, a call opens one new session. Idle sessions end.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { LRUCache } from 'lru-cache';
import type { ClientFacts } from '../wire/protocol';
import type { UpstreamCaller } from './upstream';

/** Identity of a caller at a server. */
export interface LegacySession {
  /** Absent for servers without sessions. */
  readonly id?: string;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
  /** Last value sent to the server. */
  logLevel?: JsonValue;
}

/** undefined: for the gateway itself, which reads lists. */
export type OpenSession = (client: ClientFacts | undefined) => Promise<LegacySession>;

const MAX_SESSIONS = 1000;
const IDLE_MS = 30 * 60_000;

/** The sessions of one server, each of one caller. */
export class LegacySessions {
  private readonly sessions: LRUCache<string, Promise<LegacySession>>;

  constructor(
    private readonly open: OpenSession,
    private readonly end: (session: LegacySession) => void,
  ) {
    this.sessions = new LRUCache({
      max: MAX_SESSIONS,
      ttl: IDLE_MS,
      updateAgeOnGet: true,
      dispose: (session) => void session.then(this.end, () => {}),
    });
  }

  /** The caller's session, opened on demand. Without a caller: the gateway's own. */
  async of(caller?: UpstreamCaller, client?: ClientFacts): Promise<LegacySession> {
    const name = nameOf(caller);
    const known = this.sessions.get(name);
    if (known !== undefined) return known;
    const opened = this.open(caller === undefined ? undefined : client);
    this.sessions.set(name, opened);
    opened.catch(() => {
      if (this.sessions.peek(name) === opened) this.sessions.delete(name);
    });
    return opened;
  }

  /** The server does not know it any more. */
  async forget(caller: UpstreamCaller | undefined, session: LegacySession): Promise<void> {
    const name = nameOf(caller);
    const known = this.sessions.peek(name);
    if (known !== undefined && (await known.catch(() => undefined)) === session) this.sessions.delete(name);
  }

  endOf(sessionId: string): void {
    for (const name of this.sessions.keys()) if (name.endsWith(`\n${sessionId}`)) this.sessions.delete(name);
  }

  clear(): void {
    this.sessions.clear();
  }
}

const nameOf = (caller: UpstreamCaller | undefined): string =>
  caller === undefined ? '' : `${caller.keyId}\n${caller.customerId ?? ''}\n${caller.sessionId ?? ''}`;
