// Bodies as large as they may be, as honest callers send them: a long text, many messages, an image.
import type { Attack } from '../attack';
import { APIS, type Api, ask, fill, MAY_PASS_THROUGH, MEGABYTE } from './ask-with';

/** Just below what a body may have, the rest of the request included. */
const SIZE = 20 * 1024 * 1024 - 10_000;
const PROSE = 'The quick brown fox jumps over the lazy dog; “why”, asked the dog. 12,5 % of 40 are 5.\n';
const MANY = 2_000;

/** No model with a known context window takes as much: who asks for one of them is told so before it is sent. */
const BOUNDLESS: Partial<Record<Api, string>> = {
  chat: 'openai/boundless',
  completions: 'openai/boundless',
  messages: 'anthropic/boundless',
  responses: 'openai/boundless',
};
/** Models without a price are for projects without a cap. */
const UNCAPPED = { strict_caps: false, monthly_cap_usd: null };

const large = (api: Api): Attack => ({
  name: `an honest body of 20 MB: ${api}`,
  ...{ profiles: ['plain', 'bodies'], perMinute: 10 },
  project: { ...MAY_PASS_THROUGH, ...(BOUNDLESS[api] === undefined ? {} : UNCAPPED) },
  play: async (context) => {
    const text = fill(PROSE, SIZE - 2 * (SIZE / PROSE.length) * 3);
    await ask(context, api, text, { more: BOUNDLESS[api] === undefined ? {} : { model: BOUNDLESS[api] } });
  },
});

export const HONEST_BODIES: readonly Attack[] = [
  ...(Object.keys(APIS) as Api[]).map(large),
  {
    name: 'an honest body of 20 MB: an image, for three vendors',
    ...{ perMinute: 10, project: { strict_caps: false } },
    play: async (context) => {
      const data = Buffer.alloc(SIZE * 0.74, 7).toString('base64');
      for (const model of ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash']) {
        const content = [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
        ];
        await ask(context, 'chat', 'x', { more: { model, messages: [{ role: 'user', content }] } });
      }
    },
  },
  {
    name: 'an honest body of 10 MB: many messages',
    ...{ profiles: ['plain', 'bodies'], perMinute: 10, project: UNCAPPED },
    play: async (context) => {
      const content = fill(PROSE, (10 * MEGABYTE) / MANY);
      const messages = Array.from({ length: MANY }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
      await ask(context, 'chat', 'x', { more: { messages, model: BOUNDLESS.chat } });
      await ask(context, 'messages', 'x', { more: { messages, model: BOUNDLESS.messages } });
    },
  },
  {
    name: 'an honest body of 20 MB, streamed back',
    ...{ perMinute: 10, project: UNCAPPED },
    play: async (context) => {
      const text = fill(PROSE, SIZE * 0.9);
      await ask(context, 'chat', text, { more: { stream: true, model: BOUNDLESS.chat } });
      await ask(context, 'messages', text, { more: { stream: true, model: BOUNDLESS.messages } });
    },
  },
];
