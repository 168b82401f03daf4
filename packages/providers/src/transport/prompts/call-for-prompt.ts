import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, TextPrompt } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CompletionsPart } from '../../completions';
import type { ProviderCall } from '../../provider-call';
import { DroppedParameters } from '../../translation/refuse-parameter';

interface OnePrompt {
  readonly prompt: TextPrompt;
  readonly text: string | readonly number[];
  readonly index: number;
  /** The vendor's native API for single prompts; undefined if it only knows conversations. */
  readonly native: CompletionsPart | undefined;
  /** Collects the names of dropped parameters. */
  readonly dropped: Set<string>;
}

/** The call for one prompt. Throws `unsupported_parameter` unless `dropParams`. */
export function callForPrompt(call: ProviderCall, { prompt, text, index, native, dropped }: OnePrompt): ProviderCall {
  const { request, context } = call;
  if (typeof text !== 'string') throw takesNoTokens(index, context.model);
  const messages: readonly ChatMessage[] = [{ role: 'user', content: [{ type: 'text', text }] }];
  if (native !== undefined) {
    return { ...call, request: { ...request, messages, prompt: { ...prompt, prompts: [text] } } };
  }
  const unsaid = refuseUnsaid(call, prompt);
  for (const name of unsaid) dropped.add(name);
  const { prompt: _prompt, ...rest } = request;
  const body: JsonObject = { ...prompt.chat, messages: [{ role: 'user', content: text }] };
  const said: OpenRequest = { ...rest, messages, wire: { format: 'openai-chat', body } };
  for (const name of unsaid) {
    for (const [wire, ours] of CHAT_FIELDS[name] ?? []) {
      delete body[wire];
      delete said[ours];
    }
  }
  return { ...call, request: said };
}

type OpenRequest = { -readonly [K in keyof ChatRequest]: ChatRequest[K] };

/** Names of a dropped parameter, in chat and inside. */
const CHAT_FIELDS: Readonly<
  Record<string, readonly (readonly [string, 'logprobs' | 'topLogprobs' | 'maxOutputTokens'])[]>
> = {
  logprobs: [
    ['logprobs', 'logprobs'],
    ['top_logprobs', 'topLogprobs'],
  ],
  max_tokens: [['max_tokens', 'maxOutputTokens']],
};

function takesNoTokens(index: number, model: string): GatewayError {
  const message = `"prompt[${index}]" must be text for ${model}: it takes no tokens.`;
  return new GatewayError('unsupported_parameter', message, { param: 'prompt' });
}

/** Fields without a place in a conversation: the dropped names. */
function refuseUnsaid({ request, context }: ProviderCall, prompt: TextPrompt): readonly string[] {
  const parameters = new DroppedParameters(context);
  const reason = 'is not supported through chat, which is how this gateway asks';
  if (prompt.suffix !== undefined && prompt.suffix !== '') parameters.refuse('suffix', reason);
  if ((prompt.bestOf ?? 1) > (request.n ?? 1)) parameters.refuse('best_of', reason);
  if (prompt.echo === true && prompt.logprobs !== undefined)
    parameters.refuse('logprobs', `of an echoed prompt ${reason}`);
  if (request.maxOutputTokens === 0) parameters.refuse('max_tokens', 'must be at least 1 for');
  return parameters.names();
}
