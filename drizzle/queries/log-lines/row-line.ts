import { RecordsRejectedError, UUID } from '@llm0/core/logs/decode-log-record';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { usdFromNano } from '../../money';
import { innerRow } from '../inner-names';
import { FIELDS, RARE_FIELDS } from '../logs/log-rows';
import { factOf, type UsageFact } from '../stats/write/rollup-deltas';

const { id: _id, ...others } = { ...FIELDS, ...RARE_FIELDS };
const PARTS = (Object.entries(others) as [keyof typeof others, readonly [string, string]][]).map(
  ([field, [column, kind]]) => ({ field, column, isText: kind === 'text', isSmall: kind === 'integer' }),
);
const COLUMNS = PARTS.map(({ column }) => column);

function refuse(field: string): never {
  throw new RecordsRejectedError(`${field} is missing or wrong`);
}

/** ClickHouse keeps them as texts. */
const isLabels = (labels: object): boolean => {
  if (Array.isArray(labels)) return false;
  for (const name in labels) if (typeof (labels as Record<string, unknown>)[name] !== 'string') return false;
  return true;
};

/**
 * A row of `gateway_logs` as JSON, with the names that Postgres gives, and without columns that are null. Money is a
 * text, as in no float. Throws `RecordsRejectedError` where Postgres or ClickHouse would refuse the value.
 */
export function toRowLine(record: LogRecord): string {
  const { createdAtMs, costNanoUsd, savedNanoUsd, tokensIn, tokensOut, failoverCount, labels, matchedBy } = record;
  if (labels != null && (typeof labels !== 'object' || !isLabels(labels))) refuse('labels');
  if (matchedBy != null && !UUID.test(matchedBy)) refuse('matchedBy');
  const row: Record<string, unknown> = { id: record.id.toLowerCase(), created_at: toInstant(createdAtMs) };
  for (const { field, column, isText, isSmall } of PARTS) {
    const value: unknown = record[field];
    if (value == null) continue;
    if (isSmall && value !== ((value as number) | 0)) refuse(field);
    row[column] = isText && typeof value !== 'string' ? String(value) : value;
  }
  row.tokens_total = tokensIn + tokensOut;
  row.failover_occurred = failoverCount > 0;
  row.cost_usd = usdFromNano(costNanoUsd);
  row.saved_usd = usdFromNano(savedNanoUsd);
  return JSON.stringify(row);
}

/** `YYYY-MM-DDTHH:MM:SS.` of a second. */
let lastSecond = { second: Number.NaN, text: '' };

function toInstant(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond.second) {
    lastSecond = { second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  }
  return `${lastSecond.text}${String(ms - second * 1000).padStart(3, '0')}Z`;
}

/** The end of a line, behind all other texts. */
const MONEY = /"cost_usd":"([^"]+)","saved_usd":"([^"]+)"\}$/;

/** The same with all columns, and money as a number: as other stores know rows. */
export function toWholeLine(line: string): string {
  const row = readRowLine(line);
  const missing = COLUMNS.filter((column) => !(column in row)).map((column) => `,"${column}":null`);
  const rest = `,"request_id":${JSON.stringify(row.id)}${missing.join('')}}`;
  return line.replace(MONEY, `"cost_usd":$1,"saved_usd":$2${rest}`);
}

/** A line, as far as sums need it. */
interface LineRow {
  readonly [column: string]: unknown;
  readonly created_at: string;
  readonly cost_usd: string;
  readonly saved_usd: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export const readRowLine = (line: string): LineRow => JSON.parse(line) as LineRow;

/** As `factOf` has it of the record. */
export function factOfLine(line: string): UsageFact {
  const { created_at: createdAt, ...row } = readRowLine(line);
  return factOf({ ...innerRow<LogRecord>(row), createdAtMs: Date.parse(createdAt) });
}
