/** Parameters of a model generation. */
export interface ModelQuirks {
  /** Request for thinking. */
  readonly thinking: 'none' | 'budget' | 'level';
  /** Least token budget of reasoning: 0 if it can be disabled. */
  readonly minBudgetTokens: number;
  /** Level for minimal reasoning. */
  readonly lowestLevel: 'minimal' | 'low';
  /** Takes JSON schemas as they are; earlier models take a subset without references. */
  readonly jsonSchemas: boolean;
  /** Refuses calls in its history that it did not sign. */
  readonly signedCalls: boolean;
}

/** Aliases such as `gemini-flash-latest` name the newest. */
const NEWEST = Number.POSITIVE_INFINITY;

/** Sources: https://ai.google.dev/gemini-api/docs/thinking and …/thought-signatures */
export function quirksOf(model: string): ModelQuirks {
  const isOther = !/gemini/i.test(model) || /embedding|tts/i.test(model);
  const found = /gemini-(\d+)(?:\.(\d+))?/i.exec(model);
  const generation = found === null ? NEWEST : Number(found[1]) + Number(found[2] ?? 0) / 10;
  const isPro = /-pro|-argon/i.test(model);
  return {
    thinking: isOther || generation < 2.5 ? 'none' : generation < 3 ? 'budget' : 'level',
    minBudgetTokens: isPro ? 128 : 0,
    lowestLevel: isPro ? 'low' : 'minimal',
    jsonSchemas: generation >= 2,
    signedCalls: !isOther && generation >= 3,
  };
}
