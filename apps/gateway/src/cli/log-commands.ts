// If the gateway becomes unreachable while following, reports it once and retries every second.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { parseStored } from '../admin/fields/json-money';
import { type AdminClient, type ClientAnswer, RequestFailed } from './admin-client';
import { type Command, type CommandInput, type CommandOption, PROJECT, UsageError } from './command';
import { column, formatCell } from './format-table';
import { dataOf, isObject } from './read-list';
import { isId, resolveName } from './resolve-name';

const POLL_MS = 1000;
/** Rows carry the admission time but appear at the end of the answer, so each poll looks at this many. */
const ROWS_A_POLL = 1000;
const REMEMBERED_ROWS = 20_000;

const FILTERS: Readonly<Record<string, CommandOption>> = {
  project: PROJECT,
  key: { kind: 'text', help: 'only this key (id, or name with --project)' },
  'api-key-id': { kind: 'text', help: 'the same, by id' },
  'customer-id': { kind: 'text', help: 'only this customer' },
  model: { kind: 'text', help: 'answering or requested model' },
  provider: { kind: 'text', help: 'only this provider' },
  status: { kind: 'text', help: 'success, rate_limited, cap_exceeded, aborted or error' },
  outcome: { kind: 'text', help: 'as status, with caller_error apart from error' },
  cache: { kind: 'text', help: 'exact, semantic or miss' },
  modality: { kind: 'text', help: 'text, image, audio, embedding, moderation, rerank, file, batch or realtime' },
  'run-id': { kind: 'text', help: 'only this agent run (X-LLM0-Run-Id)' },
  'trace-id': { kind: 'text', help: 'only this W3C trace, 32 hex digits' },
  'min-cost': { kind: 'usd', help: 'only requests that cost at least this much, in USD' },
  'min-latency': { kind: 'number', help: 'only requests that took at least this long, in milliseconds' },
  q: { kind: 'text', help: 'part of a model, customer or error' },
};

/** Names of the command line, and those of the API. */
const FORMATS: Readonly<Record<string, string>> = { csv: 'csv', jsonl: 'ndjson' };

export const LOG_COMMANDS: readonly Command[] = [
  {
    name: 'logs tail',
    summary: 'Show the newest requests and follow',
    options: {
      lines: { kind: 'number', help: 'rows to show first (20)' },
      follow: { kind: 'flag', help: 'follow until interrupted (on)' },
      ...FILTERS,
    },
    run: tailLogs,
  },
  {
    name: 'logs export',
    summary: 'Export requests to the output, newest first',
    options: {
      format: { kind: 'text', help: 'csv or jsonl (csv)' },
      from: { kind: 'text', help: 'earliest time, such as 2030-01-01T00:00:00Z' },
      to: { kind: 'text', help: 'before this time' },
      limit: { kind: 'number', help: 'most rows to export (all)' },
      ...FILTERS,
    },
    run: exportLogs,
  },
  {
    name: 'logs move',
    summary: 'Follow the copy of the log to ClickHouse (LOG_DATABASE_URL) until both sides were compared',
    options: { again: { kind: 'flag', help: 'compare every day again, and copy rows that are missing' } },
    run: moveLogs,
    hasFailed: ({ state }) => state !== 'answers',
  },
];

const MOVE_POLL_MS = 2000;

/** Ends when ClickHouse answers; an interrupted gateway goes on with the move by itself. */
async function moveLogs({ api, fields, output }: CommandInput): Promise<ClientAnswer> {
  if (fields.again === true) await api.post('/log-database/compare', {});
  let shown = '';
  for (;;) {
    const answer = await api.get('/log-database');
    const { state, days, rows, problem } = answer.body as JsonObject;
    if (state === 'answers') return answer;
    const line = `${state}: ${days} days, ${rows} rows${problem === null ? '' : `; ${problem}`}`;
    if (line !== shown) output.note(line);
    shown = line;
    await Bun.sleep(MOVE_POLL_MS);
  }
}

async function exportLogs({ api, fields, output }: CommandInput): Promise<undefined> {
  const { format = 'csv', ...rest } = fields;
  const known = FORMATS[String(format)];
  if (known === undefined) throw new UsageError('--format must be csv or jsonl');
  await api.download('/logs', { ...(await filterOf(api, rest)), format: known }, output.write);
  return undefined;
}

/** Names of keys become ids. */
async function filterOf(api: AdminClient, { key, ...rest }: JsonObject): Promise<JsonObject> {
  return typeof key === 'string' ? { ...rest, api_key_id: await keyIdOf(api, key, rest.project_id) } : rest;
}

async function tailLogs({ api, fields, output, signal }: CommandInput): Promise<undefined> {
  const { lines = 20, follow = true, ...rest } = fields;
  const filter = await filterOf(api, rest);
  const seen = new Set<string>();
  const show = (rows: readonly ListedRow[]) => {
    for (const { row, json } of rows.toReversed()) {
      if (seen.has(String(row.id))) continue;
      seen.add(String(row.id));
      output.list(json, [row], LINE);
    }
    for (const id of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED_ROWS))) seen.delete(id);
  };
  const first = rowsOf(await api.get('/logs', { ...filter, limit: follow === true ? ROWS_A_POLL : lines }));
  for (const { row } of first.slice(Number(lines))) seen.add(String(row.id));
  show(first.slice(0, Number(lines)));
  let isLost = false;
  while (follow === true && !signal.aborted) {
    await sleep(POLL_MS, signal);
    const rows = await poll(api, { ...filter, limit: ROWS_A_POLL });
    if (rows === undefined && !isLost) output.note('The gateway does not answer; trying again every second.');
    isLost = rows === undefined;
    show(rows ?? []);
  }
  return undefined;
}

/** Names of keys are their project's own. */
async function keyIdOf(api: AdminClient, key: string, projectId: JsonValue | undefined): Promise<string> {
  const path = typeof projectId === 'string' ? `/projects/${projectId}/keys` : undefined;
  if (path === undefined && !isId(key)) throw new UsageError('--key takes a name only with --project');
  return resolveName(api, { what: 'key', path: path ?? '', idOrName: key });
}

interface ListedRow {
  readonly row: JsonObject;
  /** Original JSON of the API, with exact money. */
  readonly json: string;
}

function rowsOf({ text, body }: ClientAnswer): readonly ListedRow[] {
  const exact = dataOf(parseStored(text) as JsonObject);
  return dataOf(body)
    .filter(isObject)
    .map((row, index) => ({ row, json: JSON.stringify(exact[index]) }));
}

/** undefined while the gateway is not there. */
async function poll(api: AdminClient, query: JsonObject): Promise<readonly ListedRow[] | undefined> {
  try {
    return rowsOf(await api.get('/logs', query));
  } catch (cause) {
    const isGone = cause instanceof RequestFailed && (cause.status === undefined || cause.status >= 500);
    if (isGone) return undefined;
    throw cause;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** One line a request, without a head. */
const LINE = [
  column('created_at', { title: '' }),
  column('status', { title: '' }),
  column('http_status', { title: '' }),
  {
    title: '',
    value: (row: JsonObject) => `${formatCell(row.final_provider ?? row.provider)}/${formatCell(row.model)}`,
  },
  { title: '', value: (row: JsonObject) => (row.semantic_cache_hit ? 'semantic' : row.cache_hit ? 'exact' : 'miss') },
  { title: '', value: (row: JsonObject) => `${formatCell(row.tokens_in)}+${formatCell(row.tokens_out)} tok` },
  { title: '', value: (row: JsonObject) => `$${formatCell(row.cost_usd)}` },
  { title: '', value: (row: JsonObject) => `${Math.round(Number(row.latency_ms))} ms` },
  {
    title: '',
    value: ({ error_code, refused_count }: JsonObject) =>
      typeof refused_count === 'number' ? `${formatCell(error_code)} ×${refused_count}` : (error_code ?? ''),
  },
  column('request_id', { title: '' }),
];
