import { ERROR_TABLE, type LogStatus } from '../errors/error-table';
import type { LogRecord } from './log-record';

/** The records themselves are at fault, not the store: storing them again would fail again. */
export class RecordsRejectedError extends Error {
  override readonly name = 'RecordsRejectedError';
}

export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const UUID_FIELDS = ['id', 'projectId', 'apiKeyId'] as const;
const TEXT_FIELDS = ['dialect', 'model', 'requestedModel'] as const;
const INTEGER_FIELDS = [
  'tokensIn',
  'tokensOut',
  'tokensCacheRead',
  'tokensCacheWrite',
  'tokensReasoning',
  'costNanoUsd',
  'savedNanoUsd',
  'failoverCount',
  'httpStatus',
] as const;
const BOOLEAN_FIELDS = ['costEstimated', 'stream', 'cacheHit', 'semanticCacheHit'] as const;
const OPTIONAL_NUMBERS = ['overheadMs', 'upstreamMs', 'ttftMs', 'similarityScore'] as const;
export const STATUSES: ReadonlySet<unknown> = new Set<LogStatus>([
  'success',
  ...Object.values(ERROR_TABLE).map((row) => row.logStatus),
]);
/** 2020-01-01 and 2100-01-01: a clock outside is broken, and would make partitions without end. */
const FIRST_MS = 1_577_836_800_000;
const LAST_MS = 4_102_444_800_000;
export const isStorableTime = (ms: unknown): boolean => typeof ms === 'number' && ms >= FIRST_MS && ms < LAST_MS;

/** Characters that Postgres can't store: NUL and lone surrogates. */
const UNSTORABLE = /\\u0000|\\u[dD][89abAB]|\\u[dD][c-fC-F]/;

/** A record, and its JSON as Postgres takes it. */
export interface DecodedRecord {
  readonly record: LogRecord;
  /** The original text unless it needed repair. */
  readonly json: string;
}

/**
 * Reads one queue entry. Text is made storable (NUL removed, broken surrogates replaced), `createdAtMs` whole.
 * Throws `RecordsRejectedError` naming the field at fault.
 */
export const decodeLogRecord = (json: string): DecodedRecord => checkLogRecord(parseEntry(json));

/** A queue entry's JSON with storable text, before its kind is known. */
export interface ParsedEntry {
  readonly value: object;
  /** The original text unless it needed repair. */
  readonly text: string | undefined;
}

export function parseEntry(json: string): ParsedEntry {
  const text = json.isWellFormed() ? json : json.toWellFormed();
  const storable = !UNSTORABLE.test(text);
  let value: unknown;
  try {
    value = storable ? JSON.parse(text) : JSON.parse(text, makeStorable);
  } catch (error) {
    throw new RecordsRejectedError('not JSON', { cause: error });
  }
  if (value === null || typeof value !== 'object') throw new RecordsRejectedError('not an object');
  return { value, text: storable ? text : undefined };
}

/** Throws `RecordsRejectedError` naming the field at fault. */
export function checkLogRecord({ value, text }: ParsedEntry): DecodedRecord {
  const record = value as LogRecord;
  const fault = findFault(record);
  if (fault !== null) throw new RecordsRejectedError(`${fault} is missing or wrong`);
  if (text !== undefined && Number.isInteger(record.createdAtMs)) return { record, json: text };
  return encodeLogRecord({ ...record, createdAtMs: Math.floor(record.createdAtMs) });
}

export const encodeLogRecord = (record: LogRecord): DecodedRecord => ({ record, json: JSON.stringify(record) });

function findFault(record: LogRecord): string | null {
  const wrong =
    UUID_FIELDS.find((name) => !UUID.test(String(record[name]))) ??
    TEXT_FIELDS.find((name) => typeof record[name] !== 'string') ??
    INTEGER_FIELDS.find((name) => !Number.isSafeInteger(record[name])) ??
    BOOLEAN_FIELDS.find((name) => typeof record[name] !== 'boolean') ??
    OPTIONAL_NUMBERS.find((name) => record[name] != null && typeof record[name] !== 'number');
  if (wrong !== undefined) return wrong;
  if (!isStorableTime(record.createdAtMs)) return 'createdAtMs';
  if (record.refusedCount != null && !(Number.isSafeInteger(record.refusedCount) && record.refusedCount > 0)) {
    return 'refusedCount';
  }
  if (record.runId != null && typeof record.runId !== 'string') return 'runId';
  if (record.modality != null && typeof record.modality !== 'string') return 'modality';
  if (record.units != null && (typeof record.units !== 'object' || Array.isArray(record.units))) return 'units';
  if (record.routing != null && !Array.isArray(record.routing)) return 'routing';
  if (record.guardrails != null && !Array.isArray(record.guardrails)) return 'guardrails';
  if (record.traceId != null && typeof record.traceId !== 'string') return 'traceId';
  if (typeof record.latencyMs !== 'number') return 'latencyMs';
  if (!STATUSES.has(record.status)) return 'status';
  return record.attempts == null || Array.isArray(record.attempts) ? null : 'attempts';
}

function makeStorable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storableText(name), part]));
}

const storableText = (text: string) => text.replaceAll('\0', '').toWellFormed();
