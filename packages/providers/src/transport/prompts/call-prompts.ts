import type { TextPrompt } from '@llm0/core/chat/request';
import type { CompletionsPart } from '../../completions';
import type { Provider } from '../../provider';
import type { ProviderAnswer, ProviderCall } from '../../provider-call';
import { callForPrompt } from './call-for-prompt';
import { JoinedAnswers, type PromptJob } from './joined-answers';

type Ask = (call: ProviderCall) => Promise<ProviderAnswer>;

/**
 * One attempt at text completion: natively if possible, else as a conversation. One call for each prompt if needed,
 * with joined answers. A failed call fails the attempt.
 */
export async function callPrompts(call: ProviderCall, prompt: TextPrompt, ask: Ask): Promise<ProviderAnswer> {
  const { completions } = call.provider;
  const native = completions?.serves(call.context) === true ? completions : undefined;
  if (native?.takesMany === true) return ask({ ...call, provider: speakCompletions(call.provider, native) });
  const dropped = new Set<string>();
  const jobs = prompt.prompts.map((text, i): PromptJob => {
    const own = callForPrompt(call, { prompt, text, index: i, native, dropped });
    const isEchoed = prompt.echo === true && native?.echoes !== true;
    return {
      call: native === undefined ? own : { ...own, provider: speakCompletions(call.provider, native) },
      echo: isEchoed && typeof text === 'string' ? text : undefined,
    };
  });
  const [first] = jobs;
  const answers = new JoinedAnswers(jobs, { ask, stream: call.request.stream, n: call.request.n ?? 1 });
  const isAlone = jobs.length === 1 && first !== undefined && first.echo === undefined;
  const answer = isAlone ? await ask(first.call) : await answers.begin();
  for (const name of answer.dropped) dropped.add(name);
  return isAlone
    ? { ...answer, dropped: [...dropped] }
    : { ...answer, dropped: [...dropped], events: answers, whole: undefined };
}

/** The vendor, as one that speaks this format only. */
function speakCompletions(provider: Provider, completions: CompletionsPart): Provider {
  const { encodeRequest, decodeResponse, createStreamDecoder } = completions;
  return { ...provider, encodeRequest, decodeResponse, createStreamDecoder, remoteMedia: undefined };
}
