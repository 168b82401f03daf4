import { nextTurn } from '@llm0/core/async/time-slices';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { BatchDialect, LineFault } from '@llm0/drizzle/queries/batches/batches';
import type { NewLine } from '@llm0/drizzle/queries/batches/lines';
import type { LineEndpoint, LineOrigin } from './line-endpoint';
import type { InputLine } from './read-input';

export const MAX_LINES = 50_000;
const MAX_FAULTS = 100;
const MAX_ID_LENGTH = 512;
/** Lines between two turns of the event loop. */
const LINES_A_TURN = 20;

/** An input that was read to its end: its lines, or what is wrong with it. */
export interface CheckedInput {
  readonly lines: readonly NewLine[];
  readonly boundNanoUsd: number;
  readonly faults: readonly LineFault[];
}

interface Check {
  readonly dialect: BatchDialect;
  /** Path that all lines must name. */
  readonly path: string;
  readonly endpoint: LineEndpoint;
  readonly origin: LineOrigin;
}

/** Reads all lines, and bounds their cost. A request that its endpoint would refuse is no fault: its line fails. */
export async function checkLines(input: AsyncIterable<InputLine>, check: Check): Promise<CheckedInput> {
  const lines: NewLine[] = [];
  const faults: LineFault[] = [];
  const ids = new Set<string>();
  let boundNanoUsd = 0;
  for await (const { number, at, length, text } of input) {
    if (number % LINES_A_TURN === 0) await nextTurn();
    const read = readLine(text, check, ids);
    if ('fault' in read) faults.push({ ...read.fault, line: number });
    else {
      ids.add(read.customId);
      const bound = boundOf(check, read.body);
      boundNanoUsd += bound;
      lines.push({ line: lines.length, customId: read.customId, at, length, boundNanoUsd: bound });
    }
    if (faults.length >= MAX_FAULTS) break;
    if (lines.length > MAX_LINES) {
      faults.push(fault('too_many_tasks', `A batch may have at most ${MAX_LINES} lines.`));
      break;
    }
  }
  if (lines.length === 0 && faults.length === 0) faults.push(fault('empty_file', 'The input file has no lines.'));
  return { lines, boundNanoUsd, faults };
}

const fault = (code: string, message: string, param: string | null = null): LineFault => ({
  ...{ code, message, param },
  line: null,
});

type ReadLine = { readonly customId: string; readonly body: JsonObject } | { readonly fault: LineFault };

function readLine(text: string, { dialect, path }: Check, ids: ReadonlySet<string>): ReadLine {
  const line = parseObject(text);
  if (line === undefined) return { fault: fault('invalid_json_line', 'This line is no JSON object.') };
  const { custom_id: customId } = line;
  const isText = typeof customId === 'string' && customId !== '' && !customId.includes('\0');
  if (!isText || customId.length > MAX_ID_LENGTH) {
    const message = `"custom_id" must be a text of 1 to ${MAX_ID_LENGTH} characters, none of them NUL.`;
    return { fault: fault('invalid_custom_id', message, 'custom_id') };
  }
  if (ids.has(customId)) {
    return { fault: fault('duplicate_custom_id', `"${customId.slice(0, 80)}" stands twice.`, 'custom_id') };
  }
  if (dialect === 'openai' && line.method !== 'POST') {
    return { fault: fault('invalid_method', '"method" must be "POST".', 'method') };
  }
  if (dialect === 'openai' && line.url !== path) {
    return { fault: fault('mismatched_endpoint', `"url" must be the batch's endpoint, ${path}.`, 'url') };
  }
  const body = bodyOf(line, dialect);
  if (body === undefined) return { fault: fault('invalid_body', 'The body must be an object.', BODY[dialect]) };
  if (body.stream === true) return { fault: fault('invalid_body', '"stream" must not be true in a batch.', 'stream') };
  return { customId, body };
}

/** Name of the request in a line. */
const BODY = { openai: 'body', anthropic: 'params' } as const satisfies Record<BatchDialect, string>;

function bodyOf(line: JsonObject, dialect: BatchDialect): JsonObject | undefined {
  const body = line[BODY[dialect]];
  return isObject(body) ? body : undefined;
}

/** The request of a line that was checked before. */
export function readLineBody(text: string, dialect: BatchDialect): JsonObject {
  const body = bodyOf(parseObject(text) ?? {}, dialect);
  if (body === undefined) throw new Error('the input file has changed');
  return body;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text.trim());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function boundOf({ endpoint, origin }: Check, body: JsonObject): number {
  try {
    return endpoint.boundOf(origin, body);
  } catch (error) {
    if (error instanceof GatewayError) return 0;
    throw error;
  }
}
