import { nextTurn } from '@llm0/core/async/time-slices';
import { type PackedResponse, packResponse } from '@llm0/core/cache/cached-answer';
import { packPieces, packText } from '@llm0/core/cache/packed-text';
import type { ChatResponse } from '@llm0/core/chat/response';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';
import { cutJson } from '@llm0/core/logs/body-log';
import type { LargeBody, ResponseSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { givenBodies } from '../metering/logged-bodies';
import { ownerOf } from './answer-owner';
import { keptOf, lengthOf, type RespondInput, type RespondNeeds, storedAnswer } from './finish-completion';

export const NOT_KEPT: PackedResponse = { bytes: Number.POSITIVE_INFINITY };

/** Packs a large answer for caches and replays before settlement, if one will store it. */
export function packLarge(
  { config }: Pick<Services, 'config'>,
  input: Pick<RespondInput, 'admission' | 'claim' | 'answer'>,
  given: ChatResponse,
): Promise<PackedResponse> | PackedResponse {
  const { admission, claim } = input;
  const response = keptOf(input, given);
  if (!claim.isNone) return packResponse(response, Number.POSITIVE_INFINITY);
  const { cacheKey } = admission.plan;
  return cacheKey === undefined ? NOT_KEPT : packResponse(response, config.cacheMaxBodyBytes);
}

export interface LargeFinish {
  readonly response: ChatResponse;
  readonly summary: ResponseSummary;
  readonly packed: PackedResponse;
  /** Set for formats with stored answers. */
  readonly json?: LargeBody['json'];
  /** All that the caller gets, where an `Idempotency-Key` is to give it again. */
  readonly sent?: readonly Uint8Array[];
}

/** `finishCompletion` of a large answer, in turns. */
export async function finishLarge(services: RespondNeeds, input: RespondInput, finish: LargeFinish): Promise<void> {
  const { response, summary, packed, json, sent } = finish;
  const { claim, dialect, meter } = input;
  try {
    if (json !== undefined) await keepLarge(services, input, json);
    const isSentAgain = !claim.isNone && sent !== undefined;
    const body = isSentAgain ? { body: await packPieces(sent), bytes: lengthOf(sent) } : undefined;
    const claimed = claim.complete(() => ({
      ...storedAnswer({ response: keptOf(input, response), summary }, body),
      ...{ packed: packed.text, packedBytes: packed.bytes },
    }));
    await nextTurn();
    services.bodyLog.keep(() => {
      const { value, cut } = cutJson(response);
      const text = dialect.encodeResponse(value as ChatResponse, summary);
      return { ...givenBodies(input, input.admission.plan.request.wire?.body, text), cut };
    });
    await claimed;
  } catch (error) {
    claim.release();
    throw error;
  }
  await meter.handedOver;
}

async function keepLarge(
  { storedResponses }: Pick<Services, 'storedResponses'>,
  { dialect, ctx, admission }: RespondInput,
  json: LargeBody['json'],
): Promise<void> {
  if (admission.decision.type === 'replayed') return;
  const { requestId: id } = ctx;
  const part = dialect.responseStorage?.partToKeep(admission.plan.request, id, json);
  if (part === undefined) return;
  const input = await packText(await piecesOfJson(part.input));
  const answer = await packText(await piecesOfJson(json));
  storedResponses.keep({ ...part, ...ownerOf(ctx, admission.principal), id, input, answer });
}
