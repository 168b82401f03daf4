import { mapInSlices } from '@llm0/core/async/time-slices';
import { joinInSlices } from '@llm0/core/chat/write-json-in-slices';
import { formatUsdShort } from '@llm0/core/pricing/format-usd';
import type { EmbeddingFormat, EmbeddingSummary } from '../dialect';
import { roundMs } from '../encode-metadata';

/** The whole answer as JSON text. */
export function encodeEmbeddings(summary: EmbeddingSummary, format: EmbeddingFormat): string {
  const data = summary.vectorsBase64.map((base64, index) => entryOf(base64, index, format));
  return `${OPENING}${data.join(',')}${closing(summary)}`;
}

/** Encodes large vectors in slices. */
export async function encodeLargeEmbeddings(summary: EmbeddingSummary, format: EmbeddingFormat): Promise<Blob> {
  const pieces = await mapInSlices(summary.vectorsBase64, (base64, index) =>
    Buffer.from(`${index === 0 ? OPENING : ','}${entryOf(base64, index, format)}`),
  );
  return joinInSlices([...pieces, Buffer.from(closing(summary))]);
}

const OPENING = '{"object":"list","data":[';

const entryOf = (base64: string, index: number, format: EmbeddingFormat) =>
  `{"object":"embedding","index":${index},"embedding":${ENCODERS[format](base64)}}`;

function closing(summary: EmbeddingSummary): string {
  const { promptTokens } = summary;
  const usage = `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens}}`;
  const metadata = `"latency_ms":${roundMs(summary.latencyMs)},"cost_usd":${formatUsdShort(summary.costNanoUsd)}`;
  const model = JSON.stringify(summary.model);
  return `],"model":${model},"usage":${usage},${metadata}}`;
}

const ENCODERS = {
  base64: (base64) => JSON.stringify(base64),
  float: (base64) => {
    const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
    return `[${Array.from(new Float32Array(bytes.buffer), shortestFloat).join(',')}]`;
  },
} as const satisfies Record<EmbeddingFormat, (base64: string) => string>;

/** Digits that distinguish any two 32-bit floats; most need fewer. */
const MAX_DIGITS = 9;
const USUAL_DIGITS = 7;

/** The shortest number that is the same 32-bit float. */
function shortestFloat(value: number): number {
  for (let digits = USUAL_DIGITS; digits < MAX_DIGITS; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(MAX_DIGITS));
}
