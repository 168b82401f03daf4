// A process polls only while somebody watches, once for all watchers. A topic shows the same data as the list of the
// same name.
import { inTime } from '@llm0/core/async/in-time';
import { hashSecret } from '@llm0/core/keys/api-key';
import { findLastAuditMs, listAuditEntriesAfter } from '@llm0/drizzle/queries/access/audit-trail';
import { alertRows } from '@llm0/drizzle/queries/alerts';
import {
  findBatchBefore,
  findKeptBatches,
  type KeptBatches,
  listBatchCounts,
  listLogsAfter,
} from '@llm0/drizzle/queries/logs/log-batches';
import type { LogFilter } from '@llm0/drizzle/queries/logs/logs';
import type { Actor, AdminServices } from '../admin-services';
import { showAuditEntry } from '../audit/routes';
import { maskFor } from '../fields/mask-webhooks';
import { showInstant, showInstantOrNull } from '../fields/show-fields';
import { showLog } from '../logs/schema';
import type { StatsCache } from '../stats/stats-cache';
import { createStatusReader } from '../system/read-status';
import { numberOf } from './live-cursor';
import { shareAnswer } from './share-answer';

export const TOPICS = ['logs', 'overview', 'traffic', 'status', 'alerts', 'audit'] as const;
export type Topic = (typeof TOPICS)[number];

export interface LiveQuery {
  readonly actor: Actor;
  readonly filter: LogFilter;
  /** Range of the overview; it ends now. */
  readonly rangeMs: number;
}

/** News of a topic and its next cursor; `shown` undefined: no news. */
export interface News {
  readonly shown?: unknown;
  readonly cursor: string;
  /** The topic skipped events: a page must reload its data. */
  readonly isReset?: true;
}

/** Finds events after the cursor; without one, from now on. */
export type Look = (query: LiveQuery, cursor: string | undefined) => Promise<News>;

type Needs = Pick<AdminServices, 'db' | 'clock' | 'hotStore' | 'health' | 'routing'>;

const BATCHES_MS = 400;
const STATE_MS = 1500;
/** A page loads shortly before its stream begins; the stream covers the gap. */
const LOOK_BACK_MS = 30_000;
const MOST_ROWS = 200;
const BATCHES_AT_ONCE = 20;
/** Traffic is drawn so far back. */
const TRAFFIC_MS = 65_000;
const HOLDS_MS = 1000;
/** Beyond this lag, reloading is faster. */
const MOST_BATCHES = 500;
const MOST_ENTRIES = 100;
const MOST_ALERTS = 200;
/** Shortest interval between counts on a busy gateway. */
const OVERVIEW_MS = 5000;
/** Step of the overview's end, so that viewers share an answer. */
const STEP_MS = 60_000;

export function createLooks(services: Needs, kept: StatsCache): Readonly<Record<Topic, Look>> {
  const { db, clock } = services;
  const share = <T>(ask: () => Promise<T>, keptMs: number) => shareAnswer(ask, keptMs, clock.monotonicMs);
  const batches = share(() => findKeptBatches(db), BATCHES_MS);
  const audit = share(() => findLastAuditMs(db), STATE_MS);
  const alerts = share(() => alertRows.list(db, { limit: MOST_ALERTS }), STATE_MS);
  const status = share(createStatusReader(services), STATE_MS);

  return {
    logs: async ({ filter }, cursor) => {
      const { oldest, newest } = await batches();
      const from = numberOf(cursor) ?? (await findBatchBefore(db, clock.nowMs() - LOOK_BACK_MS));
      // A number that was never given is of another database.
      const isLost = from > newest || (from < oldest - 1 && numberOf(cursor) !== undefined);
      if (isLost || newest - from > MOST_BATCHES) return { cursor: String(newest), isReset: true };
      if (from === newest) return { cursor: String(from) };
      const { rows, seq } = await listLogsAfter(db, filter, {
        seq: from,
        batches: BATCHES_AT_ONCE,
        limit: MOST_ROWS + 1,
      });
      if (rows.length > MOST_ROWS) return { cursor: String(seq), isReset: true };
      return { cursor: String(seq), shown: rows.length === 0 ? undefined : { rows: rows.map(showLog) } };
    },
    overview: overviewLook(batches, kept, clock),
    traffic: trafficLook(services, batches),
    status: async (_, cursor) => whenChanged(await status(), cursor),
    alerts: async (_, cursor) => {
      const { data } = await alerts();
      const shown = data.map(({ id, name, isActive, isMet, changedAtMs }) => ({
        ...{ id, name, is_active: isActive, is_firing: isMet, changed_at: showInstantOrNull(changedAtMs) },
      }));
      return whenChanged({ alerts: shown }, cursor);
    },
    audit: async ({ actor }, cursor) => {
      const newestMs = await audit();
      const fromMs = numberOf(cursor);
      if (fromMs === undefined || fromMs >= newestMs) return { cursor: String(fromMs ?? newestMs) };
      const entries = await listAuditEntriesAfter(db, fromMs, MOST_ENTRIES);
      const shown = { entries: entries.map(showAuditEntry) };
      return { cursor: String(entries.at(-1)?.createdAtMs ?? fromMs), shown: maskFor(actor, shown) };
    },
  };
}

/** Requests of the last minute as they ended, and those under way; of all processes and projects. */
function trafficLook({ db, clock, hotStore }: Needs, batches: () => Promise<KeptBatches>): Look {
  const noAnswer = () => null;
  const askHolds = () => inTime(hotStore.openHolds().catch(noAnswer), HOLDS_MS, noAnswer);
  const holds = shareAnswer(askHolds, HOLDS_MS, clock.monotonicMs);
  return async (_, cursor) => {
    const [{ newest }, inFlight] = [await batches(), await holds()];
    const [seqBefore, inFlightBefore] = cursor?.split('.') ?? [];
    const seq = numberOf(seqBefore) ?? 0;
    if (seq === newest && inFlightBefore === String(inFlight)) return { cursor: `${seq}.${inFlight}` };
    const nowMs = clock.nowMs();
    // A number that was never given is of another database.
    const found = await listBatchCounts(db, { seq: seq > newest ? 0 : seq, sinceMs: nowMs - TRAFFIC_MS });
    const shown = found.map(({ storedAtMs, requests, failed, callerErrors, refused }) => ({
      ...{ at: showInstant(storedAtMs), requests, failed, caller_errors: callerErrors, refused },
    }));
    return {
      cursor: `${found.at(-1)?.seq ?? newest}.${inFlight}`,
      shown: { now: showInstant(nowMs), in_flight: inFlight, batches: shown },
    };
  };
}

/** Counters of a range that ends now. */
function overviewLook(batches: () => Promise<KeptBatches>, kept: StatsCache, clock: Needs['clock']): Look {
  /** Time when rows were first seen: later answers include them. */
  let seen = { newest: -1, atMs: 0 };
  return async ({ filter, rangeMs }, cursor) => {
    const { newest } = await batches();
    if (cursor === String(newest)) return { cursor };
    if (seen.newest !== newest) seen = { newest, atMs: clock.monotonicMs() };
    const nowMs = clock.nowMs();
    const toMs = Math.ceil(nowMs / STEP_MS) * STEP_MS;
    const { projectId } = filter;
    const query = { fromMs: toMs - rangeMs, toMs, nowMs, projectId };
    const question = { kind: 'overview', query } as const;
    const shared = await kept.answer(question);
    // A cached answer from before these rows doesn't include them.
    const isBehind = clock.monotonicMs() - shared.ageMs < seen.atMs;
    if (isBehind && shared.ageMs < OVERVIEW_MS && cursor !== undefined) return { cursor };
    const { json } = isBehind ? await kept.answer(question, true) : shared;
    const text = typeof json === 'string' ? json : new TextDecoder().decode(json);
    return { cursor: String(newest), shown: JSON.parse(text) };
  };
}

/** Sends a state if it differs from the last one sent. */
function whenChanged(shown: unknown, cursor: string | undefined): News {
  const digest = hashSecret(JSON.stringify(shown)).slice(0, 12);
  return cursor === digest ? { cursor } : { cursor: digest, shown };
}
