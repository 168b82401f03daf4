// Without other processes, each uses its own observations. Nothing here delays a request.
import { LRUCache } from 'lru-cache';
import type { Target } from './target';

/** Recent targets of conversations, for planning. */
export interface WarmTargets {
  /** Target that probably has this conversation's prompt cached; undefined = none. */
  find(session: string): Target | undefined;
  /** This target has just answered it. */
  note(session: string, target: Target): void;
}

/** No affinity: every request follows its route. */
export const noWarmTargets: WarmTargets = { find: () => undefined, note: () => {} };

/** `[session, provider, model]` */
type Told = readonly [string, string, string];

export interface SessionAffinityOptions {
  readonly monotonicMs: () => number;
  /** Notifies other processes in the background; handles its own failures. */
  readonly tell?: (news: string) => void;
}

/** Vendors cache a prompt for five to ten minutes after its last use. */
export const WARM_MS = 5 * 60_000;
const MAX_SESSIONS = 50_000;
/** Interval of repeated notifications about a conversation. */
const TELL_AGAIN_MS = WARM_MS / 3;
const TELL_EVERY_MS = 500;
/** Maximum per message; the rest follows at its next use. */
const MAX_TOLD = 500;
const MAX_NAME_LENGTH = 512;

interface Warm {
  readonly target: Target;
  readonly toldMs: number;
}

/** Bounded memory of which target answers which conversation, shared by news in the background. */
export class SessionAffinity implements WarmTargets {
  private readonly sessions: LRUCache<string, Warm>;
  private untold: Told[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SessionAffinityOptions) {
    const perf = { now: options.monotonicMs };
    this.sessions = new LRUCache({ max: MAX_SESSIONS, ttl: WARM_MS, ttlResolution: 0, perf });
  }

  find(session: string): Target | undefined {
    return this.sessions.get(session)?.target;
  }

  note(session: string, { provider, model }: Target): void {
    const nowMs = this.options.monotonicMs();
    const known = this.sessions.get(session);
    const isNews = known?.target.provider !== provider || known.target.model !== model;
    const isDue = isNews || nowMs - known.toldMs > TELL_AGAIN_MS;
    const isTold = isDue && this.tellLater([session, provider, model]);
    this.sessions.set(session, { target: { provider, model }, toldMs: isTold ? nowMs : (known?.toldMs ?? nowMs) });
  }

  /** News of another process; its own are ignored. */
  hear(news: string): void {
    const nowMs = this.options.monotonicMs();
    for (const [session, provider, model] of readNews(news)) {
      this.sessions.set(session, { target: { provider, model }, toldMs: nowMs });
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  get size(): number {
    return this.sessions.size;
  }

  private tellLater(told: Told): boolean {
    const { tell } = this.options;
    if (tell === undefined || this.untold.length >= MAX_TOLD) return false;
    this.untold.push(told);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      tell(JSON.stringify(this.untold));
      this.untold = [];
    }, TELL_EVERY_MS);
    return true;
  }
}

/** Anything odd in it is left out. */
function readNews(news: string): readonly Told[] {
  let list: unknown;
  try {
    list = JSON.parse(news);
  } catch {
    return [];
  }
  if (!Array.isArray(list)) return [];
  const isName = (part: unknown) => typeof part === 'string' && part.length <= MAX_NAME_LENGTH;
  return list
    .slice(0, MAX_TOLD)
    .filter((one): one is Told => Array.isArray(one) && one.length === 3 && one.every(isName));
}
