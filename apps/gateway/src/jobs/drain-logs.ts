// Without Postgres, the batch retries; the queue grows until it is full, and then requests get 503.
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import { LogDrain, type LogSink } from '@llm0/core/logs/log-drain';
import { redactText } from '@llm0/core/logs/redact';
import { noObserver, type StoredRecords } from '@llm0/core/tracing/span';
import { floorOf } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { NO_ROWS_MS } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { readLogFence } from '@llm0/drizzle/queries/logs/log-fence';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import type { JobContext, RowStore } from './job';

/** Failures between two lines of the gateway's log, while Postgres is away. */
const COMPLAIN_EVERY = 12;
const SHOWN_CHARACTERS = 20_000;
const ROWS_A_BATCH = 1000;
/** Without rows, Postgres has a batch's sums to write, which hardly grow with it. */
const LINES_A_BATCH = 50_000;

/** Moves records from the durable queue to `gateway_logs`; a row is visible within 2 s. */
export function createLogDrain(context: JobContext): LogDrain {
  return new LogDrain({
    queue: context.hotStore,
    sink: createLogSink(context),
    sleep: interruptibleSleep,
    lingerMs: context.lingerMs,
    batchSize: async () => ((await floorOf(context.db).catch(() => 0)) < NO_ROWS_MS ? ROWS_A_BATCH : LINES_A_BATCH),
    onFailure: (err, attempt) => {
      if (attempt % COMPLAIN_EVERY === 1) context.log.warn({ err, attempt }, 'log records could not be stored yet');
    },
  });
}

export function createLogSink(context: JobContext): LogSink {
  const { observer = noObserver } = context;
  const here: RowStore = { storeRecords: (...given) => storeLogRecords(context.db, ...given) };
  const { rows = here } = context;
  // Without an observer, the drain keeps no records in memory.
  const onWritten = observer === noObserver ? undefined : (stored: StoredRecords) => observer.take(stored);
  let fence: number | undefined;
  return {
    async prepare() {
      fence = await readLogFence(context.db);
    },
    async store(records) {
      await rows.storeRecords(records, { fence, onWritten });
      context.onDrained?.(records.length);
    },
    async setAside(record, reason) {
      context.log.error({ reason }, 'a log record was set aside');
      await addSystemLog(context.db, {
        eventType: 'log_record_set_aside',
        outcome: 'error',
        durationMs: null,
        message: `a log record could not be stored: ${redactText(reason)}`,
        metadata: {
          record: redactText(record.slice(0, 2 * SHOWN_CHARACTERS))
            .slice(0, SHOWN_CHARACTERS)
            .replaceAll('\0', '')
            .toWellFormed(),
        },
      });
    },
  };
}
