import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { CompletionsPart } from '../../completions';
import type { EncodeContext, UpstreamRequest } from '../../provider-request';
import { jsonHeaders } from '../../provider-request';
import { chatBody } from '../../translation/json-body';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { PayloadStreamDecoder } from '../../transport/payload-stream-decoder';
import { setDelivery } from '../encode-request';
import type { ChatQuirks } from '../endpoint';
import { keyHeaders } from '../endpoint';
import { CompletionStream, decodeCompletion } from './decode-answer';
import type { CompletionQuirks } from './quirks';

/** Values that request nothing. */
const NEUTRAL: Readonly<Record<string, string>> = {
  ...{ n: '1', best_of: '1', echo: 'false', presence_penalty: '0', frequency_penalty: '0', logit_bias: '{}' },
  suffix: '""',
};
/** For the vendor's own accounts: no answer changes. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['user', 'metadata', 'stream_options']);

/** A server's own way of continuing text. */
export function createCompletions(name: string, quirks: CompletionQuirks, chat: ChatQuirks): CompletionsPart {
  const { takesMany, echoes } = quirks;
  return {
    serves: ({ model, priced }) => quirks.serves(model, priced?.mode),
    ...{ takesMany, echoes },
    encodeRequest: (request, context) => encodeRequest(request, context, { quirks, chat }),
    decodeResponse: (body) => decodeCompletion(name, body),
    createStreamDecoder: () => new PayloadStreamDecoder(name, new CompletionStream(name)),
  };
}

/** The original request; sets only model, prompt, delivery, and a missing output limit. */
function encodeRequest(
  { wire, prompt, stream, digest }: ChatRequest,
  context: EncodeContext,
  { quirks, chat }: { readonly quirks: CompletionQuirks; readonly chat: ChatQuirks },
): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body: JsonObject = { ...wire?.body, model: context.model };
  const [first, ...others] = prompt?.prompts ?? [];
  if (others.length === 0 && typeof first === 'string') body.prompt = first;
  if (!quirks.echoes) delete body.echo;
  if (quirks.fields !== undefined) keepFields(body, quirks.fields, dropped);
  if (context.outputLimit !== undefined) body.max_tokens ??= context.outputLimit;
  setDelivery(body, stream, chat);
  for (const [ours, theirs] of Object.entries(chat.renamed)) {
    if (body[ours] !== undefined) body[theirs] ??= body[ours];
    delete body[ours];
  }
  const { connection } = context;
  return {
    url: `${quirks.baseUrl?.(connection) ?? connection.baseUrl}/${quirks.path}`,
    method: 'POST',
    headers: jsonHeaders(connection, keyHeaders(connection)),
    body: chatBody(body, { digest, wire }),
    dropped: dropped.names(),
  };
}

function keepFields(body: JsonObject, fields: ReadonlySet<string>, dropped: DroppedParameters): void {
  for (const name of Object.keys(body)) {
    if (fields.has(name)) continue;
    const value = body[name];
    delete body[name];
    if (value === null || NEUTRAL[name] === JSON.stringify(value) || name === 'stream_options') continue;
    if (BOOKKEEPING.has(name)) dropped.note(name);
    else dropped.refuse(name, 'is not supported by');
  }
}
