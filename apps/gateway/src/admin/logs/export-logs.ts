// Postgres lost in the middle of an export: the connection is cut, so that the file never looks complete.
import { searchLogs } from '@llm0/drizzle/queries/logs/search-logs';
import type { MiddlewareHandler } from 'hono';
import { invalidInput } from '../admin-router';
import type { AdminEnv, AdminServices } from '../admin-services';
import { LOG_COLUMNS, logQuerySchema, type ShownLog, showLog, toLogFilter } from './schema';

const ROWS_A_READ = 500;

interface ExportFormat {
  readonly contentType: string;
  readonly head: string;
  readonly line: (log: ShownLog) => string;
}

const FORMATS = {
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: `${LOG_COLUMNS.join(',')}\r\n`,
    line: (log) => `${LOG_COLUMNS.map((column) => csvCell(log[column])).join(',')}\r\n`,
  },
  ndjson: { contentType: 'application/x-ndjson', head: '', line: (log) => `${JSON.stringify(log)}\n` },
} as const satisfies Record<string, ExportFormat>;

/** Answers `GET /logs` with a streamed file where one is asked for; otherwise leaves it to the list. */
export function exportLogs({ db, clock }: Pick<AdminServices, 'db' | 'clock'>): MiddlewareHandler<AdminEnv> {
  return async (c, next) => {
    const name = wantedFormat(c.req.query('format'), c.req.header('accept'));
    if (c.req.method !== 'GET' || name === undefined) return next();
    const parsed = logQuerySchema.safeParse(c.req.query());
    if (!parsed.success) throw invalidInput(parsed.error);
    const format: ExportFormat = FORMATS[name];
    const maxRows = c.req.query('limit') === undefined ? Number.POSITIVE_INFINITY : parsed.data.limit;
    const filter = toLogFilter(parsed.data);
    const nowMs = clock.nowMs();
    const read: PageReader = (cursor, limit) => searchLogs(db, filter, { limit, cursor }, nowMs);
    // What is wrong with the question is an answer of its own, not a file that breaks off.
    const first = await read(parsed.data.cursor, Math.min(ROWS_A_READ, maxRows));
    const lines = readLines({ read, first, maxRows, format });
    return new Response(toStream(lines), {
      headers: { 'Content-Type': format.contentType, 'Content-Disposition': `attachment; filename="logs.${name}"` },
    });
  };
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
  for (let page = first; ; page = await read(page.nextCursor ?? undefined, Math.min(ROWS_A_READ, left))) {
    if (page.data.length > 0) yield page.data.map((log) => format.line(showLog(log))).join('');
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

/** What spreadsheets take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180; texts that a spreadsheet would run as a formula get a leading apostrophe. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return quoteCell(FORMULA.test(value) ? `'${value}` : value);
  return quoteCell(JSON.stringify(value));
}

function quoteCell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
