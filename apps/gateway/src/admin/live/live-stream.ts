// If a store is away, the stream stays and resumes from its cursor. A slow reader is disconnected; it resumes by the
// `id` of its last event.
import { encodeSse } from '@llm0/core/sse/encode-sse';
import type { Actor } from '../admin-services';
import { encodeLiveCursor, type LiveCursor } from './live-cursor';
import type { LiveQuery, Look, News, Topic } from './live-topics';

/** Interval between looks for news. */
const TICK_MS = 500;
const HEARTBEAT_MS = 15_000;
/** Interval between checks of the reader's access. */
const CHECK_MS = 500;
/** Unsent bytes that end a slow reader's stream. */
export const MOST_WAITING_BYTES = 256 * 1024;

export interface LiveStreamOptions {
  readonly topics: readonly Topic[];
  readonly query: LiveQuery;
  readonly cursor: LiveCursor;
  readonly looks: Readonly<Record<Topic, Look>>;
  /** Current session; undefined if it ended. */
  readonly whoAsks: () => Promise<Actor | undefined>;
  readonly isStopping: () => boolean;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Sends the news and ends, for readers behind a buffering proxy. */
  readonly once: boolean;
  /** Aborted when the reader disconnects. */
  readonly signal: AbortSignal;
}

type EndReason = 'signed_out' | 'access_changed' | 'stopping';

/** Events as text, until there is a reason to end. */
export async function* liveEvents(options: LiveStreamOptions): AsyncGenerator<string, void> {
  const { topics, clock, sleep, once } = options;
  let cursor: LiveCursor = Object.fromEntries(
    topics.flatMap((topic) => (options.cursor[topic] === undefined ? [] : [[topic, options.cursor[topic]]])),
  );
  const event = (name: string, data: unknown) =>
    `id: ${encodeLiveCursor(cursor)}\n${encodeSse(JSON.stringify(data), name)}`;
  const isResumed = Object.keys(cursor).length > 0;
  let saidMs = clock.monotonicMs();
  let checkedMs = saidMs;
  for (let isFirst = true; ; isFirst = false) {
    const said: string[] = [];
    const news = await lookAtAll(options, cursor);
    // Cursors of silent topics first: a reader cut off between two events resumes with the missing ones only.
    for (const { topic, found } of news) if (!isTold(found)) cursor = { ...cursor, [topic]: found.cursor };
    if (isFirst) said.push(event('hello', { resumed: isResumed }));
    for (const { topic, found } of news.filter(({ found }) => isTold(found))) {
      cursor = { ...cursor, [topic]: found.cursor };
      said.push(found.isReset ? event('reset', { topic }) : event(topic, found.shown));
    }
    const nowMs = clock.monotonicMs();
    if (said.length === 0 && nowMs - saidMs >= HEARTBEAT_MS) said.push(':\n\n');
    if (said.length > 0) {
      saidMs = nowMs;
      yield said.join('');
    }
    if (once) return;
    await sleep(TICK_MS);
    if (options.signal.aborted) return;
    const end = await reasonToEnd(options, clock.monotonicMs() - checkedMs >= CHECK_MS);
    if (clock.monotonicMs() - checkedMs >= CHECK_MS) checkedMs = clock.monotonicMs();
    if (end !== undefined) {
      yield event('end', { reason: end });
      return;
    }
  }
}

const isTold = ({ isReset, shown }: News) => isReset === true || shown !== undefined;

/** Collects news of every topic whose store answers. */
async function lookAtAll({ topics, looks, query }: LiveStreamOptions, cursor: LiveCursor) {
  const news: { readonly topic: Topic; readonly found: News }[] = [];
  for (const topic of topics) {
    const found = await looks[topic](query, cursor[topic]).catch(() => undefined);
    if (found !== undefined) news.push({ topic, found });
  }
  return news;
}

async function reasonToEnd(options: LiveStreamOptions, isDue: boolean): Promise<EndReason | undefined> {
  const { actor } = options.query;
  if (options.isStopping()) return 'stopping';
  if (actor.session !== undefined && actor.session.expiresAtMs <= options.clock.nowMs()) return 'signed_out';
  if (!isDue) return undefined;
  try {
    const now = await options.whoAsks();
    if (now === undefined) return 'signed_out';
    const isSame = now.name === actor.name && now.rights === actor.rights;
    return isSame ? undefined : 'access_changed';
  } catch {
    // Without Postgres, there is no news either.
    return undefined;
  }
}

/** Body of an event stream; `onEnd` runs exactly once. */
export function streamOf(events: AsyncGenerator<string, void>, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const push = async () => {
          try {
            for await (const text of events) {
              if (isOver) return;
              controller.enqueue(encoder.encode(text));
              if ((controller.desiredSize ?? 0) <= 0) break;
            }
            if (!isOver) controller.close();
          } catch (error) {
            if (!isOver) controller.error(error);
          } finally {
            end();
          }
        };
        void push();
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING_BYTES }),
  );
}
