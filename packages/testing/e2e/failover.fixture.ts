import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, postChat, type TestEnvironment } from './environment';

/** The preset chain of `gpt-4o-mini`. */
export const FIRST = 'gpt-4o-mini';
export const SECOND = 'claude-haiku-4-5-20251001';
export const THIRD = 'gemini-2.5-flash';
export const REQUEST_TIMEOUT_MS = 1500;
const TIMEOUT = `${REQUEST_TIMEOUT_MS}ms`;
export const IMPATIENT = { REQUEST_TIMEOUT: TIMEOUT, ANSWER_TIMEOUT: TIMEOUT, STREAM_IDLE_TIMEOUT: '1s' };

interface Attempt {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly status?: number | null;
}

export interface Row {
  readonly status: string;
  readonly cost_usd: number;
  readonly attempts: readonly Attempt[];
  readonly final_provider: string;
  readonly failover_count: number;
  readonly cost_estimated: boolean;
  readonly cost_detail: Record<string, number> | null;
}

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly attempts: readonly { provider: string; failure: string }[];
  };
}

/** Text of an answer, plain or streamed. */
export async function textOf(answer: Response, stream: boolean): Promise<string> {
  const body = await answer.text();
  if (!stream)
    return (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
  return body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] })
    .map((chunk) => chunk.choices[0]?.delta.content ?? '')
    .join('');
}

/** So many, none of them 0. */
const digits = (count: number) => Array.from({ length: count }, () => 1 + Math.floor(9 * Math.random())).join('');

/** A caller of models that only it asks, so that breakers do not meet: dated versions use their family's chain. */
export async function openCaller(world: TestEnvironment) {
  const { apiKey } = await createTestKey(world.gateway);
  return {
    apiKey,
    /** Another first target than before. */
    async newFirst(): Promise<string> {
      const first = `gpt-4o-mini-${digits(4)}-01-${digits(1)}${digits(1)}`;
      await callAdmin(world.gateway, `/models?provider=openai&model=${first}`, {
        method: 'PUT',
        body: { input_usd_per_million: 0.15, output_usd_per_million: 0.6 },
      });
      return first;
    },
    post: (text: string, model: string, more: Record<string, unknown> = {}) =>
      postChat(world.gateway, apiKey, ask(text, { model, ...more })),
    rowOf: async (answer: Response) =>
      (await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')) as unknown as Row,
  };
}
