import {
  checkLogRecord,
  type DecodedRecord,
  isStorableTime,
  type ParsedEntry,
  parseEntry,
  RecordsRejectedError,
  STATUSES,
  UUID,
} from './decode-log-record';
import type { ToolCallRecord } from './tool-call-record';

const UUID_FIELDS = ['id', 'projectId', 'apiKeyId', 'serverId'] as const;
const TEXT_FIELDS = ['runId', 'server', 'tool'] as const;
const OPTIONAL_TEXTS = ['customerId', 'clientRequestId', 'traceId', 'errorCode', 'errorMessage'] as const;
const COUNT_FIELDS = ['bytesIn', 'bytesOut', 'costNanoUsd'] as const;

/** One entry of the queue. */
export type DecodedEntry =
  | { readonly kind: 'request'; readonly decoded: DecodedRecord }
  | { readonly kind: 'tool_call'; readonly record: ToolCallRecord };

/** Reads one queue entry of either kind, its text made storable. Throws `RecordsRejectedError` naming the field at fault. */
export function decodeEntry(json: string): DecodedEntry {
  const parsed = parseEntry(json);
  if (!('kind' in parsed.value)) return { kind: 'request', decoded: checkLogRecord(parsed) };
  if (parsed.value.kind !== 'tool_call') throw new RecordsRejectedError('kind is not known');
  return { kind: 'tool_call', record: checkToolCall(parsed) };
}

function checkToolCall({ value }: ParsedEntry): ToolCallRecord {
  const record = value as ToolCallRecord;
  const fault = findFault(record);
  if (fault !== undefined) throw new RecordsRejectedError(`${fault} is missing or wrong`);
  return { ...record, createdAtMs: Math.floor(record.createdAtMs) };
}

function findFault(record: ToolCallRecord): string | undefined {
  const wrong =
    UUID_FIELDS.find((name) => !UUID.test(String(record[name]))) ??
    TEXT_FIELDS.find((name) => typeof record[name] !== 'string') ??
    OPTIONAL_TEXTS.find((name) => record[name] != null && typeof record[name] !== 'string') ??
    COUNT_FIELDS.find((name) => !(Number.isSafeInteger(record[name]) && record[name] >= 0));
  if (wrong !== undefined) return wrong;
  if (typeof record.isError !== 'boolean') return 'isError';
  if (typeof record.durationMs !== 'number') return 'durationMs';
  if (!isStorableTime(record.createdAtMs)) return 'createdAtMs';
  if (record.guardrails != null && !Array.isArray(record.guardrails)) return 'guardrails';
  return STATUSES.has(record.status) ? undefined : 'status';
}
