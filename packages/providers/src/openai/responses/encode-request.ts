import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest, WireRequest } from '@llm0/core/chat/request';
import { isOwnItemId } from '@llm0/core/conversations/own-ids';
import type { EncodeContext, UpstreamRequest } from '../../provider-request';
import { chatBody } from '../../translation/json-body';
import { asObject, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { endpointOf } from '../endpoint';

/** Fields for this gateway only; by now they are resolved. */
const OWN_FIELDS = ['previous_response_id', 'background'] as const;

/**
 * Encodes a request of this format with every field, built-in tools and unknown ones included. Sets only model,
 * delivery and a missing output limit, and removes foreign ids.
 */
export function encodeRequest(
  wire: WireRequest,
  { stream, digest }: Pick<ChatRequest, 'stream' | 'digest'>,
  context: EncodeContext,
): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body: JsonObject = { ...wire.body, model: context.model };
  for (const name of OWN_FIELDS) delete body[name];
  if (stream) body.stream = true;
  else if (body.stream !== undefined) body.stream = false;
  if (context.outputLimit !== undefined) body.max_output_tokens ??= context.outputLimit;
  if (Array.isArray(body.input)) body.input = body.input.flatMap((item) => encodeItem(item, dropped));
  const sent = chatBody(body, { digest, wire });
  return { ...endpointOf(context.connection, 'responses'), body: sent, dropped: dropped.names() };
}

/** Removes our ids from items of other vendors, and reasoning that only those can read. */
function encodeItem(value: JsonValue, dropped: DroppedParameters): JsonValue[] {
  const item = asObject(value);
  if (item === undefined) return [value];
  if (item.type === 'reasoning' && isForeign(item)) {
    dropped.note('input.reasoning');
    return [];
  }
  if (!isOwnItemId(item.id) && item.signature === undefined) return [value];
  const { id, signature: _signature, ...rest } = item;
  return [isOwnItemId(id) || id === undefined ? rest : { id, ...rest }];
}

const SEAL = 'llm0.';

function isForeign(item: JsonObject): boolean {
  return isOwnItemId(item.id) || asString(item.encrypted_content)?.startsWith(SEAL) === true;
}
