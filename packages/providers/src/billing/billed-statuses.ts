/** Answers other than 2xx that a vendor may bill all the same. */
interface BilledStatus {
  readonly status: number;
  /** Only if the error text matches. */
  readonly words?: RegExp;
}

/** A proxy in between gave up on started work. */
const GAVE_UP: readonly BilledStatus[] = [{ status: 408 }, { status: 499 }, { status: 504 }, { status: 524 }];

/** All other refusals and failures are free: 4xx and 429 were never worked on, and no vendor bills its own 5xx. */
const BY_PROVIDER: Readonly<Record<string, readonly BilledStatus[]>> = {
  // "If your request fails with a 400 or 500 error, you won't be charged." https://ai.google.dev/gemini-api/docs/billing
  gemini: GAVE_UP,
  // A filtered prompt was read: https://learn.microsoft.com/azure/ai-foundry/openai/how-to/manage-costs
  azure: [...GAVE_UP, { status: 400, words: /content (?:management )?(?:policy|filter)|content_filter/i }],
  // A model that failed while it worked: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
  bedrock: [...GAVE_UP, { status: 424 }],
};

/** True if the vendor may bill an answer with this status. `words`: its error text. */
export function isBilledStatus(provider: string, status: number, words = ''): boolean {
  // Above 599 there is no status, so the bill is unknown.
  if (status < 400 || status > 599) return true;
  const billed = BY_PROVIDER[provider] ?? GAVE_UP;
  return billed.some((one) => one.status === status && one.words?.test(words) !== false);
}
