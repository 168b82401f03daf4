// The bodies cannot be read: spans go out without content.
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Span } from '@llm0/core/tracing/span';
import { buildRequestSpans, type SpanContent, type SpanOptions } from './build-request-spans';
import { buildToolSpans } from './build-tool-spans';
import { inputMessages, jsonText, outputMessages } from './describe-content';
import type { OtlpEncoder } from './encode-otlp';
import { ExportQueue, type ExportQueueOptions } from './export-queue';
import type { Delivery, OtlpClient } from './otlp-client';
import { hasSpans, type Rows } from './rows';
import type { Bodies } from './thread/messages';

export type LoadContent = (requestIds: readonly string[]) => Promise<Bodies>;

export interface SpanExportOptions extends Pick<ExportQueueOptions<unknown>, 'onTaken' | 'onLost' | 'maxWaiting'> {
  readonly encoder: Pick<OtlpEncoder, 'encodeSpans' | 'rejectedSpans'>;
  readonly client: Pick<OtlpClient, 'deliver'>;
  readonly onlyLatestNames: boolean;
  /** Set where content is asked for. */
  readonly loadContent: LoadContent | undefined;
  readonly delayMs: number;
  /** Receives the number of encoded rows, whose objects are garbage now. */
  readonly onEncoded?: (rows: number) => void;
}

/** A process writes bodies within half a second; rows may be earlier. */
const CONTENT_AGE_MS = 2_000;
/** Batch size with content: each row may have 64 kB. */
const CONTENT_BATCH = 64;

type Row = { readonly request: LogRecord } | { readonly call: ToolCallRecord };

/** Exports rows as spans. Rows wait unchanged, so only exported ones cost work. */
export class SpanExport {
  private readonly queue: ExportQueue<Row>;

  constructor(private readonly options: SpanExportOptions) {
    const { encoder, onTaken, onLost, maxWaiting, loadContent, delayMs } = options;
    const waits = { leastAgeMs: CONTENT_AGE_MS, batchSize: CONTENT_BATCH };
    this.queue = new ExportQueue<Row>({
      ...{ onTaken, onLost, maxWaiting, delayMs },
      ...(loadContent === undefined ? {} : waits),
      deliver: (rows, signal) => this.deliver(rows, signal),
      rejectedOf: (response) => encoder.rejectedSpans(response),
      bytesOf: bytesOfRow,
    });
  }

  /** Never throws, never waits. */
  take({ requests, calls }: Rows): void {
    this.queue.add([
      ...requests.filter(hasSpans).map((request) => ({ request })),
      ...calls.filter(hasSpans).map((call) => ({ call })),
    ]);
  }

  close(timeoutMs: number): Promise<void> {
    return this.queue.close(timeoutMs);
  }

  private async deliver(rows: readonly Row[], signal: AbortSignal): Promise<Delivery> {
    const contents = await this.contentsOf(rows);
    const spans: Span[] = [];
    await eachInSlices(rows, (row) => {
      const { onlyLatestNames } = this.options;
      const content = contents === undefined ? undefined : contentOf(row, contents.get(idOf(row)));
      const options: SpanOptions = { onlyLatestNames, content };
      spans.push(...('call' in row ? buildToolSpans(row.call, options) : buildRequestSpans(row.request, options)));
    });
    const body = this.options.encoder.encodeSpans(spans);
    this.options.onEncoded?.(rows.length);
    return this.options.client.deliver(body, signal);
  }

  /** undefined if content isn't exported. */
  private async contentsOf(rows: readonly Row[]): Promise<Bodies | undefined> {
    const { loadContent } = this.options;
    if (loadContent === undefined) return undefined;
    return loadContent(rows.map(idOf)).catch(() => new Map());
  }
}

/** Size of a row without long fields. */
const USUAL_BYTES = 1_000;

/** Caller-controlled fields count too. */
function bytesOfRow(row: Row): number {
  const { labels, errorMessage = '' } = 'call' in row ? row.call : row.request;
  let bytes = USUAL_BYTES + errorMessage.length;
  for (const name in labels) bytes += name.length + (labels[name]?.length ?? 0);
  if ('call' in row) return bytes;
  for (const name of row.request.droppedParams ?? []) bytes += name.length;
  return bytes + row.request.model.length + row.request.requestedModel.length;
}

const idOf = (row: Row): string => ('call' in row ? row.call.id : row.request.id);

type Kept = { readonly request: string | null; readonly response: string | null };

function contentOf(row: Row, kept: Kept | undefined): SpanContent {
  if (kept === undefined) return {};
  try {
    return 'call' in row
      ? { input: jsonText(kept.request), output: jsonText(kept.response) }
      : { input: inputMessages(kept.request), output: outputMessages(kept.response) };
  } catch {
    // Bodies of unknown formats.
    return {};
  }
}
