// Without the stream, `isLive` is false and pages poll until it returns. Behind a buffering proxy, the page polls the
// same URL every two seconds. A hidden page has no stream.
import { awaitSignIn } from './expired-session';

export type Topic = 'logs' | 'overview' | 'traffic' | 'status' | 'alerts' | 'audit';

export interface Subscription {
  readonly topic: Topic;
  /** Filters of the topic, as the API takes them. */
  readonly query: Readonly<Record<string, string | string[]>>;
  /** `resumed` false: a new stream; it also sends the last half minute. */
  readonly onHello?: (resumed: boolean) => void;
  readonly onNews: (news: never) => void;
  /** The stream skipped events. */
  readonly onReset: () => void;
}

const HELLO_MS = 5000;
const POLL_MS = 2000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;
/** The page's own questions go first: a browser has six connections to a host. */
const QUIET_MS = 700;
const LOOK_MS = 100;
/** The gateway caches answers for 20 s, and ranges end with the minute: by then a page has reloaded. */
const SEEN_MS = 80_000;
/** The stream only reports arriving rows for these topics. */
const TELLS_OF_ROWS: ReadonlySet<string> = new Set<Topic>(['logs', 'overview']);

interface LiveEvent {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
}

/** One stream for all that a page watches. */
export class LiveConnection {
  private readonly subscriptions = new Set<Subscription>();
  private readonly listeners = new Set<() => void>();
  private run = new AbortController();
  private address = '';
  private cursor = new URLSearchParams();
  /** The query that each topic's cursor belongs to. */
  private asked = new Map<string, string>();
  private polls = false;
  /** Time of the last reported rows. */
  private cameInMs = 0;
  private readonly waiting = new Set<() => void>();
  isLive = false;

  constructor(private readonly isBusy: () => boolean) {
    document.addEventListener('visibilitychange', () => this.update(true));
  }

  add(subscription: Subscription): () => void {
    this.subscriptions.add(subscription);
    this.update();
    return () => {
      this.subscriptions.delete(subscription);
      this.update();
    };
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** True if the stream has delivered every change up to that time and none since. */
  isQuietSince(ms: number): boolean {
    return (
      this.isLive &&
      this.cameInMs + SEEN_MS < ms &&
      [...this.subscriptions].some(({ topic }) => TELLS_OF_ROWS.has(topic))
    );
  }

  /** Runs after each arrival of rows. */
  readonly onRows = (run: () => void): (() => void) => {
    this.waiting.add(run);
    return () => this.waiting.delete(run);
  };

  private update(anew = false): void {
    // Runs after all parts of a page mount or unmount.
    queueMicrotask(() => {
      const address = document.hidden ? '' : this.describe();
      if (address === this.address && !anew) return;
      this.forgetOthers();
      this.address = address;
      this.run.abort();
      this.run = new AbortController();
      if (address === '') this.say(false);
      else void this.go(address, this.run.signal);
    });
  }

  private describe(): string {
    const queries = [...this.subscriptions].map(({ query }) => query);
    const topics = [...new Set([...this.subscriptions].map(({ topic }) => topic))].sort().join(',');
    if (topics === '') return '';
    const asked: Subscription['query'] = Object.assign({}, ...queries);
    // Several values of one name are a list.
    const fields = Object.entries(asked).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));
    return new URLSearchParams([...fields, ['topics', topics]]).toString();
  }

  /** A cursor continues for the same query. A page in the background resumes its topics. */
  private forgetOthers(): void {
    if (document.hidden) return;
    const asked = new Map([...this.subscriptions].map(({ topic, query }) => [topic as string, JSON.stringify(query)]));
    for (const topic of [...this.cursor.keys()])
      if (asked.get(topic) !== this.asked.get(topic)) this.cursor.delete(topic);
    this.asked = asked;
  }

  private say(isLive: boolean): void {
    if (this.isLive === isLive) return;
    this.isLive = isLive;
    for (const listener of this.listeners) listener();
  }

  private async go(address: string, signal: AbortSignal): Promise<void> {
    for (let quietMs = 0; quietMs < QUIET_MS; quietMs = this.isBusy() ? 0 : quietMs + LOOK_MS) {
      await sleep(LOOK_MS, signal);
      if (signal.aborted) return;
    }
    for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
      const status = await this.read(address, signal).catch(() => 0);
      if (signal.aborted) return;
      if (status === 401) {
        this.say(false);
        await awaitSignIn();
      } else if (status === 200) retryMs = FIRST_RETRY_MS / 2;
      else this.say(false);
      await sleep(status === 200 && this.polls ? POLL_MS : retryMs, signal);
    }
  }

  /** Reads until it ends; the status of the answer, 0 without one. */
  private async read(address: string, signal: AbortSignal): Promise<number> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), HELLO_MS);
    try {
      const resumed = new Set(this.cursor.keys());
      const headers = { 'Last-Event-ID': this.cursor.toString() };
      const url = `/admin/v1/live?${address}${this.polls ? '&once=true' : ''}`;
      const both = AbortSignal.any([signal, late.signal]);
      const answer = await fetch(url, { headers, credentials: 'same-origin', signal: both });
      if (!answer.ok || answer.body === null) return answer.status;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ; ) {
        const { done, value } = await reader.read();
        if (done) return answer.status;
        clearTimeout(timer);
        const blocks = (text + value).split('\n\n');
        text = blocks.pop() ?? '';
        this.say(true);
        for (const block of blocks) this.take(parseEvent(block), resumed);
      }
    } catch (error) {
      if (late.signal.aborted) this.polls = true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private take(event: LiveEvent | undefined, resumed: ReadonlySet<string>): void {
    if (event === undefined) return;
    this.cursor = new URLSearchParams(event.id);
    const data = event.data as { topic?: string };
    for (const { topic, onHello, onNews, onReset } of this.subscriptions) {
      if (event.name === 'hello') onHello?.(resumed.has(topic));
      else if (event.name === topic) onNews(event.data as never);
      else if (event.name === 'reset' && data.topic === topic) onReset();
    }
    const told = event.name === 'reset' ? (data.topic ?? '') : event.name;
    if (!TELLS_OF_ROWS.has(told)) return;
    this.cameInMs = Date.now();
    for (const run of this.waiting) run();
  }
}

/** undefined for a comment. */
export function parseEvent(block: string): LiveEvent | undefined {
  const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]));
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { id: fields.get('id') ?? '', name: fields.get('event') ?? '', data: JSON.parse(data) };
}

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => [clearTimeout(timer), resolve()], { once: true });
  });
