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
    reason: 'The first generation of Nova does not think, and the vendor refuses to be asked.',
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
    families: ['Gemini', 'Nova on Bedrock', 'Nova 1 on Bedrock'],
    reason:
      'For models it does not know this client answers through a tool of its own, and asks for one call at a time among all ' +
      'tools. These vendors have no such switch: it is left out, and named in `X-LLM0-Dropped`.',
  },
  {
    feature: 'reasoning',
    clients: ['ai + @ai-sdk/openai (chat)'],
    reason: 'Asked for, done and billed; the client has no place for thoughts in chat completions, and shows none.',
  },
  {
    feature: 'reasoning',
    families: ['Nova on Bedrock'],
    reason: 'Amazon itself writes `[REDACTED]` where the thoughts of Nova 2 would stand.',
  },
  {
    feature: 'stream',
    clients: ['@langchain/anthropic'],
    families: ['Claude'],
    // What the fake vendor, like the real one, counts in its first event.
    surplusTokens: 1,
    reason:
      "Anthropic's stream counts output tokens in its first event and all of them in its last; this client adds both, with " +
      'Anthropic itself too. The gateway bills what the last one says.',
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
