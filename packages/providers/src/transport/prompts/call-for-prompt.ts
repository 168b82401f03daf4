import type { ChatMessage, ChatRequest, TextPrompt } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CompletionsPart } from '../../completions';
import type { ProviderCall } from '../../provider-call';
import { DroppedParameters } from '../../translation/refuse-parameter';

interface OnePrompt {
  readonly prompt: TextPrompt;
  readonly text: string | readonly number[];
  readonly index: number;
  /** How the vendor takes single prompts itself; undefined where it only knows conversations. */
  readonly native: CompletionsPart | undefined;
  /** Gets the names of what is left out. */
  readonly dropped: Set<string>;
}

/** The call for one prompt. Throws `unsupported_parameter` for what cannot be said in its way, unless `dropParams`. */
export function callForPrompt(call: ProviderCall, { prompt, text, index, native, dropped }: OnePrompt): ProviderCall {
  const { request, context } = call;
  if (typeof text !== 'string') throw takesNoTokens(index, context.model);
  const messages: readonly ChatMessage[] = [{ role: 'user', content: [{ type: 'text', text }] }];
  if (native !== undefined) {
    return { ...call, request: { ...request, messages, prompt: { ...prompt, prompts: [text] } } };
  }
  refuseUnsaid(call, prompt, dropped);
  const { prompt: _prompt, ...rest } = request;
  const body = { ...prompt.chat, messages: [{ role: 'user', content: text }] };
  return { ...call, request: { ...rest, messages, wire: { format: 'openai-chat', body } } satisfies ChatRequest };
}

function takesNoTokens(index: number, model: string): GatewayError {
  const message = `"prompt[${index}]" must be text for ${model}: it takes no tokens.`;
  return new GatewayError('unsupported_parameter', message, { param: 'prompt' });
}

/** What a conversation has no place for. */
function refuseUnsaid({ request, context }: ProviderCall, prompt: TextPrompt, dropped: Set<string>): void {
  const parameters = new DroppedParameters(context);
  const reason = 'is not supported through chat, which is how this gateway asks';
  if (prompt.suffix !== undefined && prompt.suffix !== '') parameters.refuse('suffix', reason);
  if ((prompt.bestOf ?? 1) > (request.n ?? 1)) parameters.refuse('best_of', reason);
  if (prompt.echo === true && prompt.logprobs !== undefined)
    parameters.refuse('logprobs', `of an echoed prompt ${reason}`);
  if (request.maxOutputTokens === 0) parameters.refuse('max_tokens', 'must be at least 1 for');
  for (const name of parameters.names()) dropped.add(name);
}
