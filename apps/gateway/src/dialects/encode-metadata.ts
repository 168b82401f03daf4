import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { joinInSlices, piecesOfJson } from '@llm0/core/chat/write-json-in-slices';
import { formatUsdShort } from '@llm0/core/pricing/format-usd';
import type { LargeBody, ResponseSummary } from './dialect';

/** Closes a JSON object text with the exact cost, which a double could not always carry. */
export function withCost(json: string, costNanoUsd: number): string {
  return `${json.slice(0, -1)}${json.length > 2 ? ',' : ''}"cost_usd":${formatUsdShort(costNanoUsd)}}`;
}

/** Writes a large body in slices. */
export async function writeWithCost(body: JsonObject, costNanoUsd: number): Promise<LargeBody> {
  const pieces = await piecesOfJson(body);
  const last = pieces.pop()?.toString() ?? '{}';
  pieces.push(Buffer.from(withCost(last, costNanoUsd)));
  return { bytes: await joinInSlices(pieces), json: body };
}

/** Usage of a vendor's body: unchanged unless a side is missing. */
export function shownUsage(
  given: JsonValue | undefined,
  { usage }: ResponseSummary,
  encode: (usage: Usage) => JsonObject,
): JsonObject {
  if (!isObject(given)) return encode(usage);
  return usage.estimated === true ? { ...given, ...encode(usage) } : given;
}

/** Milliseconds with at most three decimals. */
export function roundMs(latencyMs: number): number {
  return Math.round(latencyMs * 1000) / 1000;
}
