// The collector slow, down or refusing: each request is tried once, and the rows wait in Postgres for the next look.
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { Span } from '@llm0/core/tracing/span';
import type { CollectorSetting } from '../config/sinks';
import { OtlpEncoder } from '../observe/telemetry/encode-otlp';
import { OtlpClient } from '../observe/telemetry/otlp-client';
import { buildRowSpan, type StoredRow } from './build-row-span';
import type { Part } from './part';

/** Encoded in about a millisecond. */
const SPANS_A_REQUEST = 200;
/** Proxies in front of collectors often take no more than a mebibyte. */
const MAX_BYTES = 1_000_000;
const TIMEOUT_MS = 30_000;
/** A longer Retry-After isn't believed. */
const LONGEST_WAIT_MS = 300_000;

export interface WriteSpansNeeds {
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly serviceName: string;
  readonly nowMs: () => number;
  /** Called for rows that the collector took and threw away: sent again, they would be refused again. */
  readonly onRejected: (sink: string, rows: number) => void;
}

/** Sends rows as spans. The same row is the same span whenever it is sent. */
export function createWriteSpans(needs: WriteSpansNeeds): (sink: CollectorSetting, part: Part) => Promise<void> {
  const { version, serviceName, nowMs, onRejected } = needs;
  const resource = { 'service.name': serviceName, 'service.version': version };
  const encoder = new OtlpEncoder({ protocol: 'http/protobuf', resource, version });
  const waits = new Map<string, { readonly untilMs: number; readonly problem: string }>();

  async function send(sink: CollectorSetting, body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const { name, url, headers } = sink;
    const limits = { timeoutMs: TIMEOUT_MS, mostTries: 1 };
    const client = new OtlpClient({
      ...{ url, headers, contentType: encoder.contentType, fetch: needs.fetch, nowMs, ...limits },
    });
    const delivery = await client.deliver(body, signal);
    if (delivery.type === 'lost') {
      const { detail: problem, retryAfterMs = 0 } = delivery;
      waits.set(name, { untilMs: nowMs() + Math.min(retryAfterMs, LONGEST_WAIT_MS), problem });
      throw new Error(problem);
    }
    const rejected = encoder.rejectedSpans(delivery.response);
    if (rejected > 0) onRejected(name, rejected);
  }

  return async (sink, { texts, signal = new AbortController().signal }) => {
    const wait = waits.get(sink.name);
    if (wait !== undefined && nowMs() < wait.untilMs) throw new Error(wait.problem);
    for await (const text of texts) {
      for (const lines of inBatches(text.trimEnd().split('\n'))) {
        const spans: Span[] = [];
        await eachInSlices(lines, (line) => spans.push(buildRowSpan(JSON.parse(line) as StoredRow, sink)));
        for (const body of encodeBounded(encoder, spans)) await send(sink, body, signal);
      }
    }
  };
}

function* inBatches(lines: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < lines.length; at += SPANS_A_REQUEST) yield lines.slice(at, at + SPANS_A_REQUEST);
}

/** In halves until each fits; a single span does, because its texts are cut. */
function* encodeBounded(encoder: OtlpEncoder, spans: readonly Span[]): Generator<Uint8Array<ArrayBuffer>> {
  const body = encoder.encodeSpans(spans);
  if (body.length <= MAX_BYTES || spans.length === 1) return yield body;
  const middle = Math.ceil(spans.length / 2);
  yield* encodeBounded(encoder, spans.slice(0, middle));
  yield* encodeBounded(encoder, spans.slice(middle));
}
