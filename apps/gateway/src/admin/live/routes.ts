import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createRouter, defineRoute, invalidInput } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { logQuerySchema, toLogFilter } from '../logs/log-query';
import type { StatsCache } from '../stats/stats-cache';
import { decodeLiveCursor } from './live-cursor';
import { liveEvents, streamOf } from './live-stream';
import { createLooks, TOPICS, type Topic } from './live-topics';

/** A browser's tabs in the background have none. */
const MOST_BY_ONE = 8;
const MOST = 200;
const DAY_SECONDS = 86_400;
const MOST_DAYS = 90;

const isTopic = (text: string): text is Topic => TOPICS.some((topic) => topic === text);
const ownFields = {
  topics: z
    .string()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(z.string().refine(isTopic, `must be of ${TOPICS.join(', ')}`)).min(1))
    .openapi({ type: 'string', description: `Comma-separated: ${TOPICS.join(', ')}` }),
  range: z
    .string()
    .regex(/^\d{1,7}$/, 'must be a whole number of seconds')
    .transform(Number)
    .refine((seconds) => seconds >= 1 && seconds <= MOST_DAYS * DAY_SECONDS, `must be 1 s to ${MOST_DAYS} days`)
    .optional()
    .openapi({ type: 'integer', description: 'Range of `overview` in seconds; default: a day' }),
  cursor: z.string().max(400).optional().openapi({ description: 'Cursor to resume from, like `Last-Event-ID`' }),
  once: z
    .enum(['true', 'false'])
    .optional()
    .openapi({ description: 'true: returns new events and ends, for readers behind a proxy that buffers streams' }),
};

const live = defineRoute({
  method: 'get',
  path: '/live',
  tags: ['live'],
  summary: 'Stream events (SSE); further fields filter `logs`, as in GET /logs',
  description:
    'Events: `hello`; `logs` (rows that came in, newest first), `overview` (counters of the last `range` seconds), `traffic` ' +
    '(requests that ended, and those in flight, of all projects), `status`, `alerts`, `audit` with what is new; `reset` names ' +
    'a topic of which more was missed than is told; `end` says why it ends. ' +
    "Each event's id is the cursor to come back with: nothing is missed, and nothing told twice. A comment every 15 s.",
  request: { query: z.looseObject(ownFields) },
  responses: {
    200: {
      content: { 'text/event-stream': { schema: z.string() } },
      description: 'Events until the connection closes',
    },
  },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'hotStore' | 'health' | 'routing' | 'isStopping'>;

export function liveRoutes(services: Needs, kept: StatsCache) {
  const looks = createLooks(services, kept);
  const places = new Places();
  return createRouter().openapi(live, (c) => {
    const { topics, range, cursor, once, ...filters } = c.req.valid('query');
    const query = logQuerySchema.safeParse(filters);
    if (!query.success) throw invalidInput(query.error);
    const actor = c.get('actor');
    const leave = places.take(nameOf(actor));
    const gone = new AbortController();
    const events = liveEvents({
      ...{ topics: topics.filter(isTopic), looks, clock: services.clock, sleep: Bun.sleep },
      query: { actor, filter: toLogFilter(query.data), rangeMs: (range ?? DAY_SECONDS) * 1000 },
      cursor: decodeLiveCursor(c.req.header('last-event-id') ?? cursor),
      whoAsks: c.get('whoAsks'),
      isStopping: services.isStopping ?? (() => false),
      once: once === 'true',
      signal: gone.signal,
    });
    // A proxy that knows the header of nginx holds nothing back.
    const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
    return c.body(
      streamOf(events, () => {
        gone.abort();
        leave();
      }),
      200,
      headers,
    );
  });
}

const nameOf = ({ name, session }: Actor) => session?.hash ?? name;

/** Number of concurrent watchers: each costs some queries per second. */
class Places {
  private readonly taken = new Map<string, number>();
  private all = 0;

  /** Returns how to leave. */
  take(name: string): () => void {
    const own = this.taken.get(name) ?? 0;
    if (own >= MOST_BY_ONE || this.all >= MOST) {
      const message = `There are ${own >= MOST_BY_ONE ? MOST_BY_ONE : MOST} live streams already. Close one.`;
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: 10_000 });
    }
    this.taken.set(name, own + 1);
    this.all++;
    return () => {
      const left = (this.taken.get(name) ?? 1) - 1;
      if (left === 0) this.taken.delete(name);
      else this.taken.set(name, left);
      this.all--;
    };
  }
}
