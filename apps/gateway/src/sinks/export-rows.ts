import { untilGone } from '@llm0/core/async/until-gone';
import { clearLines, readLines } from '@llm0/drizzle/queries/log-lines/line-batches';
import { toWholeLine } from '@llm0/drizzle/queries/log-lines/row-line';
import {
  advanceSink,
  type BodyColumn,
  listSinks,
  noteSinkFailure,
  readSinkLines,
  readSinkPart,
  type SinkEntry,
  type SinkState,
  settleSinks,
} from '@llm0/drizzle/queries/logs/log-sinks';
import { CALLS } from '@llm0/drizzle/queries/logs/partitions';
import { rootMessage } from '@llm0/drizzle/sql-state';
import type { SinkSetting } from '../config/sinks';
import type { Job, JobContext } from '../jobs/job';
import type { Batches } from './part';
import type { WritePart } from './write-part';

const LOOK_MS = 5_000;
/** For sinks that take rows so often, and the store that answers in place of Postgres. */
const SHORTEST_LOOK_MS = 1_000;
const HOUR_MS = 3_600_000;
const ROWS_A_PART = 500;
/** ClickHouse merges few large parts better than many small ones. */
const ROWS_AN_INSERT = 10_000;
/** Two bodies of a row take half a megabyte at most. */
const BODIES_A_TEXT = 16;
/** ClickHouse keeps what Postgres keeps. */
const OTHERS_BODIES = ['request_body', 'response_body'] as const;
const BODIES: Readonly<Record<SinkSetting['kind'], readonly BodyColumn[]>> = {
  ...{ s3: OTHERS_BODIES, kafka: OTHERS_BODIES, otlp: OTHERS_BODIES },
  clickhouse: ['request_body', 'upstream_request_body', 'response_body'],
};
/** A larger object is no easier to read; the next one follows at once. */
const MOST_ROWS = 200_000;
/** Rows of an hour are all stored some seconds after its end, and bodies some seconds after their rows. */
const SETTLED_MS = 2_000;
/** After each part, so that a backlog leaves time for requests. */
const PAUSE_MS = 50;

/**
 * Hands finished rows to a sink, in the order in which they were stored, each at least once. The position moves after an
 * object is complete; an interrupted one is written again under its name. `names`: of all sinks.
 */
export function exportRows(sink: SinkSetting, names: readonly string[], write: WritePart): Job {
  let isSettled = false;
  return {
    name: 'log_sinks',
    intervalMs: Math.min(LOOK_MS, Math.max(SHORTEST_LOOK_MS, sink.everyMs)),
    async run(context) {
      const { db } = context;
      let state = await stateOf(db, sink);
      // Once, and again if another configuration has forgotten this one.
      if (!isSettled || state === undefined) {
        await settleSinks(db, names);
        isSettled = true;
        state = await stateOf(db, sink);
      }
      const rows = state === undefined ? 0 : await exportTo({ sink, state, context, write });
      return rows === 0 ? null : { message: `exported ${rows} rows`, metadata: { sink: sink.name, rows } };
    },
  };
}

const stateOf = async (db: JobContext['db'], sink: SinkSetting): Promise<SinkState | undefined> =>
  (await listSinks(db)).find(({ name }) => name === sink.name);

interface Export {
  readonly sink: SinkSetting;
  readonly state: SinkState;
  readonly context: JobContext;
  readonly write: WritePart;
}

/** Number of exported rows. A sink that fails is noted. */
async function exportTo({ sink, state, context, write }: Export): Promise<number> {
  const { db, nowMs, log, signal = new AbortController().signal } = context;
  let total = 0;
  let { seq, waitingSinceMs } = state;
  try {
    while (waitingSinceMs !== null && isDue(sink, waitingSinceMs, nowMs())) {
      const source = new HourOfRows(context, sink, { seq, sinceMs: waitingSinceMs });
      await untilGone(write(sink, { key: source.key, texts: source.texts(), batches: source, signal }), signal);
      seq = source.seq;
      total += source.rows;
      await advanceSink(db, sink.name, seq);
      if (source.hasLines) await clearLines(db);
      waitingSinceMs = (await stateOf(db, sink))?.waitingSinceMs ?? null;
    }
  } catch (error) {
    // Who leads next goes on from the same position.
    if (signal.aborted) return total;
    const problem = rootMessage(error);
    if (state.problem === null) log.warn({ sink: sink.name, problem }, 'a sink of the log takes no rows');
    await noteSinkFailure(db, sink.name, { atMs: nowMs(), problem });
  }
  return total;
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

/** After its time, or when its hour is over. */
const isDue = ({ everyMs, withBodies }: SinkSetting, sinceMs: number, nowMs: number): boolean =>
  nowMs > sinceMs + Math.max(everyMs, withBodies ? SETTLED_MS : 0) ||
  nowMs >= (hourOf(sinceMs) + 1) * HOUR_MS + SETTLED_MS;

/** Rows that were stored in one hour, from a batch on. */
class HourOfRows implements Batches {
  /** `2026-11-26/07/0000000000000042.jsonl.gz`: hour, and the batch before its first one. */
  readonly key: string;
  rows = 0;
  hasLines = false;
  readonly calls: string[] = [];
  /** The last batch in it. */
  seq: number;
  lastSeq: number | undefined;
  private readonly endMs: number;

  constructor(
    private readonly context: JobContext,
    private readonly sink: SinkSetting,
    { seq, sinceMs }: { readonly seq: number; readonly sinceMs: number },
  ) {
    this.seq = seq;
    const untilMs = context.nowMs() + (sink.withBodies ? -SETTLED_MS : SETTLED_MS);
    this.endMs = Math.min((hourOf(sinceMs) + 1) * HOUR_MS, untilMs);
    const [day = '', time = ''] = new Date(sinceMs).toISOString().split('T');
    this.key = `${day}/${time.slice(0, 2)}/${String(seq).padStart(16, '0')}.jsonl.gz`;
  }

  async *texts(): AsyncGenerator<string> {
    const { db } = this.context;
    const { kind, withBodies } = this.sink;
    const rowsAText = withBodies ? BODIES_A_TEXT : ROWS_A_PART;
    // Only an object has to be whole: elsewhere the position moves on, so that less comes again.
    // An insertion is one read, so that its repetition finds the same rows.
    const mostRows = kind === 's3' ? MOST_ROWS : kind === 'clickhouse' ? 1 : ROWS_A_PART;
    const rowsARead = kind === 'clickhouse' && !withBodies ? ROWS_AN_INSERT : ROWS_A_PART;
    while (this.rows < mostRows) {
      const { entries, lines, seq } = await readSinkPart(db, {
        afterSeq: this.seq,
        lastSeq: this.lastSeq,
        beforeMs: this.endMs,
        mostRows: rowsARead,
      });
      if (seq === this.seq) return;
      const requests = entries.filter(([, , isCall]) => isCall !== 1);
      for (let at = 0; at < requests.length; at += rowsAText) {
        const lines = await readSinkLines(db, requests.slice(at, at + rowsAText), withBodies ? BODIES[kind] : []);
        this.rows += lines.length;
        if (lines.length > 0) yield `${lines.join('\n')}\n`;
        await Bun.sleep((PAUSE_MS * rowsAText) / ROWS_A_PART);
      }
      if (lines > 0) yield* this.linesUntil(seq);
      if (kind === 'clickhouse') await this.readCalls(entries.filter(([, , isCall]) => isCall === 1));
      this.seq = seq;
    }
  }

  /** Other stores have no tool calls. */
  private async readCalls(entries: readonly SinkEntry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += ROWS_A_PART) {
      const lines = await readSinkLines(this.context.db, entries.slice(at, at + ROWS_A_PART), [], CALLS.name);
      this.calls.push(...lines);
      this.rows += lines.length;
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** Rows that Postgres has as lines only. */
  private async *linesUntil(lastSeq: number): AsyncGenerator<string> {
    this.hasLines = true;
    for await (const { text, rows } of readLines(this.context.db, { afterSeq: this.seq, lastSeq })) {
      this.rows += rows;
      if (this.sink.kind === 'clickhouse') {
        yield `${text}\n`;
        continue;
      }
      const lines = text.split('\n');
      for (let at = 0; at < lines.length; at += ROWS_A_PART) {
        yield `${lines
          .slice(at, at + ROWS_A_PART)
          .map(toWholeLine)
          .join('\n')}\n`;
        await Bun.sleep(PAUSE_MS);
      }
    }
  }
}
