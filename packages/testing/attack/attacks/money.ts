// Ways to have a vendor work without it standing in the books.
import { BREAKS, HIDES_USAGE, LATER, SILENT, stopsAfter } from '../answers';
import type { Attack, AttackContext } from '../attack';
import { APIS, type Api, ask, fill, MAY_PASS_THROUGH } from './ask-with';

const PROMPTS = 5;
const PROMPT = fill('All of this was sent, and read. ', 40_000);
const CHATS = ['chat', 'messages', 'responses', 'completions', 'gemini', 'passthrough', 'embeddings'] as const;
const SETTINGS = { perMinute: 1_000, project: { ...MAY_PASS_THROUGH, cache_enabled: false } } as const;
const LEAVE_MS = 200;
const BEYOND_TIMEOUTS_MS = 15_000;

const prompts = async (context: AttackContext, api: Api, options: { more?: object; leaveAfterMs?: number }) => {
  await Promise.all(Array.from({ length: PROMPTS }, (_, i) => ask(context, api, `${i} ${PROMPT}`, options)));
};
const STREAM = { stream: true };

/** In which field each API takes a limit, said twice. */
const TWO_LIMITS = { max_tokens: 1, max_completion_tokens: 900 };

export const MONEY: readonly Attack[] = [
  ...CHATS.flatMap((api): Attack[] => [
    {
      name: `leaving before the first output: ${api}`,
      ...{ ...SETTINGS, answer: () => SILENT },
      play: (context) => prompts(context, api, { leaveAfterMs: LEAVE_MS }),
    },
    {
      name: `running into the time-out: ${api}`,
      ...{ ...SETTINGS, answer: () => SILENT, isLong: true },
      play: (context) => prompts(context, api, { leaveAfterMs: BEYOND_TIMEOUTS_MS }),
    },
    {
      name: `a vendor that breaks off before a word: ${api}`,
      ...{ ...SETTINGS, answer: () => BREAKS },
      play: (context) => prompts(context, api, {}),
    },
    {
      name: `a vendor that tells no usage: ${api}`,
      ...{ ...SETTINGS, answer: () => HIDES_USAGE },
      play: (context) => prompts(context, api, {}),
    },
    ...(api === 'embeddings' || api === 'gemini' ? [] : streamed(api)),
  ]),
  {
    name: 'leaving in the first millisecond',
    ...{ ...SETTINGS, answer: () => SILENT },
    play: async (context) => {
      for (let ms = 1; ms <= 40; ms++) await ask(context, 'chat', `${ms} ${PROMPT}`, { leaveAfterMs: ms });
    },
  },
  {
    name: 'work to be done later',
    ...{ ...SETTINGS, answer: () => LATER },
    play: async (context) => {
      await ask(context, 'responses', PROMPT, { more: { background: true, store: true } });
      await context.send('/passthrough/openai/v1/responses', {
        body: { ...APIS.responses(PROMPT).body, background: true },
      });
      await context.send('/passthrough/openai/v1/batches', {
        body: { input_file_id: 'file-1', endpoint: '/v1/responses' },
      });
    },
  },
  {
    name: 'two limits, many answers',
    ...{ ...SETTINGS, answer: () => ({ ...HIDES_USAGE, outputTokens: 1_000_000 }) },
    play: async (context) => {
      for (const api of ['chat', 'passthrough', 'completions'] as const) {
        await ask(context, api, 'x', { more: TWO_LIMITS });
        await ask(context, api, 'x', { more: { n: 8 } });
        await ask(context, api, 'x', { more: { n: 1, best_of: 20 } });
      }
      const config = { maxOutputTokens: 100, candidateCount: 8 };
      await ask(context, 'gemini', 'x', { more: { generationConfig: config } });
    },
  },
  {
    name: 'fifty at once before a cap for a few',
    ...{ ...SETTINGS, project: { ...SETTINGS.project, monthly_cap_usd: 0.001 } },
    play: async (context) => {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => ask(context, 'chat', `${i}`, { more: { max_tokens: 500 } })),
      );
      const billed = context.upstream.bill.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
      return billed > 1_000_000 ? `the vendor bills ${billed} nano-USD beside a cap of 1000000` : undefined;
    },
  },
];

function streamed(api: Api): Attack[] {
  return [
    {
      name: `leaving a stream in the middle: ${api}`,
      ...{ ...SETTINGS, answer: () => stopsAfter(5, 'hang') },
      play: (context) => prompts(context, api, { more: STREAM, leaveAfterMs: LEAVE_MS }),
    },
    {
      name: `a stream that tells no usage: ${api}`,
      ...{ ...SETTINGS, answer: () => HIDES_USAGE },
      play: (context) => prompts(context, api, { more: STREAM }),
    },
    {
      name: `a stream that breaks in the middle: ${api}`,
      ...{ ...SETTINGS, answer: () => stopsAfter(5, 'destroy') },
      play: (context) => prompts(context, api, { more: STREAM }),
    },
  ];
}
