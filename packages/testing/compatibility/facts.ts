import type { Feature } from './features';

/** Something true of clients and models, whoever stands between them. */
export interface Fact {
  readonly feature: Feature;
  /** Names; absent = all. */
  readonly clients?: readonly string[];
  readonly families?: readonly string[];
  /** As the document says it. */
  readonly reason: string;
}

/** Cells that cannot be. The gateway refuses each with 400 `unsupported_parameter` and asks no provider: that is proven. */
export const NOT_OFFERED: readonly Fact[] = [
  {
    feature: 'reasoning',
    families: ['Nova 1 on Bedrock'],
    reason: 'The first generation of Nova has no thinking; the provider refuses the parameter.',
  },
  {
    feature: 'object loop',
    clients: ['ai + @ai-sdk/openai (chat)', 'ai + @ai-sdk/openai (responses)'],
    families: ['Cohere'],
    reason: 'Cohere takes no JSON schema beside tools.',
  },
];

/** A cell that holds, though not without a word. */
export interface Note extends Fact {
  /** Tokens that the client counts beyond what the vendor bills. */
  readonly surplusTokens?: number;
}

export const NOTES: readonly Note[] = [
  {
    feature: 'object loop',
    clients: ['ai + @ai-sdk/anthropic'],
    families: ['Gemini', 'Nova on Bedrock', 'Nova 1 on Bedrock', 'Cohere'],
    reason:
      'For unknown models this client answers through its own tool and limits calls to one at a time. These providers have no ' +
      'such switch: the gateway drops it and names it in `X-LLM0-Dropped`.',
  },
  {
    feature: 'reasoning',
    clients: ['ai + @ai-sdk/openai (chat)'],
    reason: 'The model thinks, and thinking is billed; the client does not show thoughts of chat completions.',
  },
  {
    feature: 'reasoning',
    families: ['Nova on Bedrock'],
    reason: 'Amazon replaces the thoughts of Nova 2 with `[REDACTED]`.',
  },
  {
    feature: 'stream',
    clients: ['@langchain/anthropic'],
    families: ['Claude'],
    // What the fake vendor, like the real one, counts in its first event.
    surplusTokens: 1,
    reason:
      "Anthropic's stream counts output tokens in its first event and all of them in its last; this client adds both, also " +
      'with Anthropic. The gateway bills the last count.',
  },
];

/** The first of the facts that holds for the cell. */
export function findFact<T extends Fact>(
  facts: readonly T[],
  cell: { readonly client: string; readonly family: string; readonly feature: Feature },
): T | undefined {
  return facts.find(
    ({ feature, clients, families }) =>
      feature === cell.feature &&
      (clients === undefined || clients.includes(cell.client)) &&
      (families === undefined || families.includes(cell.family)),
  );
}
