// Postgres lost in the middle of an export: the connection is cut, so that the file never looks complete.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { csvLine } from '@llm0/core/text/csv';
import { searchLogs } from '@llm0/drizzle/queries/logs/search-logs';
import type { MiddlewareHandler } from 'hono';
import { invalidInput } from '../admin-router';
import type { AdminEnv, AdminServices } from '../admin-services';
import { logQuerySchema, toLogFilter } from './log-query';
import { LOG_COLUMNS, type ShownLog, showLog } from './schema';

const ROWS_A_READ = 500;
/** In another order than that of time, each read goes over all rows of the range: fewer, larger ones. */
const SORTED_ROWS_A_READ = 5000;
/** Written at once. */
const ROWS_A_PART = 500;

interface ExportFormat {
  readonly contentType: string;
  readonly head: string;
  readonly line: (log: ShownLog) => string;
}

const FORMATS = {
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: `${LOG_COLUMNS.join(',')}\r\n`,
    line: (log) => `${csvLine(LOG_COLUMNS.map((column) => log[column]))}\r\n`,
  },
  ndjson: { contentType: 'application/x-ndjson', head: '', line: (log) => `${JSON.stringify(log)}\n` },
} as const satisfies Record<string, ExportFormat>;

/** Answers `GET /logs` with a streamed file where one is asked for; otherwise leaves it to the list. */
export function exportLogs({ db, clock }: Pick<AdminServices, 'db' | 'clock'>): MiddlewareHandler<AdminEnv> {
  return async (c, next) => {
    const name = wantedFormat(c.req.query('format'), c.req.header('accept'));
    if (c.req.method !== 'GET' || name === undefined) return next();
    const parsed = logQuerySchema.safeParse(oneOrMany(c.req.queries()));
    if (!parsed.success) throw invalidInput(parsed.error);
    const format: ExportFormat = FORMATS[name];
    const maxRows = c.req.query('limit') === undefined ? Number.POSITIVE_INFINITY : parsed.data.limit;
    const { limit: _limit, cursor: firstCursor, sort, count: _count, format: _format, ...query } = parsed.data;
    const filter = toLogFilter(query, c.get('actor'));
    const nowMs = clock.nowMs();
    const isByTime = sort.endsWith('created_at');
    const rowsARead = isByTime ? ROWS_A_READ : SORTED_ROWS_A_READ;
    const read: PageReader = (cursor, left) =>
      searchLogs(db, filter, { limit: Math.min(rowsARead, left), cursor, sort }, nowMs);
    // An invalid query gets an error answer instead of a file that breaks off.
    const first = await read(firstCursor, maxRows);
    if (!isByTime && first.partialFromMs !== undefined) throw tooManyToSort();
    const lines = readLines({ read, first, maxRows, format });
    return new Response(toStream(lines), {
      headers: { 'Content-Type': format.contentType, 'Content-Disposition': `attachment; filename="logs.${name}"` },
    });
  };
}

/** Repeated query fields form a list, as in the routes. */
const oneOrMany = (queries: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]));

/** A file that lacks rows without a word would be taken for the whole. */
function tooManyToSort(): GatewayError {
  const message = 'Sorting these rows would take more than 3 s. Choose a shorter range, or export by created_at.';
  return new GatewayError('invalid_request', message, { param: 'sort' });
}

function wantedFormat(asked: string | undefined, accept: string | undefined): keyof typeof FORMATS | undefined {
  if (asked !== undefined) return asked === 'csv' || asked === 'ndjson' ? asked : undefined;
  if (accept === undefined) return undefined;
  if (accept.includes('text/csv')) return 'csv';
  return accept.includes('application/x-ndjson') ? 'ndjson' : undefined;
}

type Page = Awaited<ReturnType<typeof searchLogs>>;
type PageReader = (cursor: string | undefined, limit: number) => Promise<Page>;

interface ExportPlan {
  readonly read: PageReader;
  readonly first: Page;
  readonly maxRows: number;
  readonly format: ExportFormat;
}

async function* readLines({ read, first, maxRows, format }: ExportPlan): AsyncGenerator<string> {
  if (format.head !== '') yield format.head;
  let left = maxRows;
  for (let page = first; ; page = await read(page.nextCursor ?? undefined, left)) {
    for (let at = 0; at < page.data.length; at += ROWS_A_PART) {
      const part = page.data.slice(at, at + ROWS_A_PART);
      yield part.map((log) => format.line(showLog(log))).join('');
    }
    left -= page.data.length;
    if (page.nextCursor === null || left <= 0) return;
  }
}

/** One read from the database each time the client has taken the last one; a client that leaves ends it. */
function toStream(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await lines.next();
      if (part.done) controller.close();
      else controller.enqueue(encoder.encode(part.value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
