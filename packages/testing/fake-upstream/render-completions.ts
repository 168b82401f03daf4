import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import { type FakeFormat, finishReason, fullText, type RenderContext, textPieces, usageCounts } from './fake-format';
import { openaiFormat } from './render-openai';

/** Completions: each prompt gets `n` answers. */
export const completionsFormat: FakeFormat = {
  plain: (behaviour, context) => ({
    ...head(context),
    choices: choices(behaviour, context).map(({ index, prompt }) => ({
      ...{ index, text: prompt + fullText(behaviour), logprobs: logprobsOf([fullText(behaviour)]) },
      finish_reason: finishReason(behaviour),
    })),
    ...(behaviour.usage === null ? {} : { usage: renderUsage(behaviour, context) }),
  }),
  events: renderEvents,
  leadEvents: 0,
  error: openaiFormat.error,
  errorEvent: openaiFormat.errorEvent,
};

const head = ({ model }: RenderContext): JsonObject => ({
  ...{ id: 'cmpl-fake', object: 'text_completion', created: 1_760_000_000, model, system_fingerprint: 'fp_fake' },
});

const promptsOf = ({ prompts = [''] }: RenderContext): readonly JsonValue[] => prompts;

function choices({ n = 1 }: FakeBehaviour, context: RenderContext): { index: number; prompt: string }[] {
  const texts = promptsOf(context).flatMap((prompt) => Array.from({ length: n }, () => prompt));
  return texts.map((prompt, index) => ({ index, prompt: context.echo === true ? String(prompt) : '' }));
}

/** As many as every prompt has words or tokens. */
function renderUsage(behaviour: FakeBehaviour, context: RenderContext): JsonObject {
  const { prompt, completion } = usageCounts(behaviour);
  return { prompt_tokens: prompt, completion_tokens: completion * choices(behaviour, context).length };
}

const logprobsOf = (tokens: string[]): JsonObject => ({
  tokens,
  token_logprobs: tokens.map(() => -0.5),
  top_logprobs: tokens.map((token) => ({ [token]: -0.5 })),
  text_offset: tokens.map((_, i) => tokens.slice(0, i).join('').length),
});

function renderEvents(behaviour: FakeBehaviour, context: RenderContext): string[] {
  const chunks: JsonObject[] = choices(behaviour, context).flatMap(({ index, prompt }) => [
    ...[prompt, ...textPieces(behaviour)]
      .filter((text) => text !== '')
      .map((text) => ({
        ...head(context),
        choices: [{ index, text, logprobs: logprobsOf([text]), finish_reason: null }],
      })),
    { ...head(context), choices: [{ index, text: '', logprobs: null, finish_reason: finishReason(behaviour) }] },
  ]);
  if (context.includeUsage && behaviour.usage !== null) {
    chunks.push({ ...head(context), choices: [], usage: renderUsage(behaviour, context) });
  }
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}
