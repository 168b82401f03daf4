/** Two savings that must not be confused: of the gateway's exact and semantic cache, and of providers' discounts. */
export const SAVED = { byCache: 'Saved by the cache', byPromptCaches: 'Saved by prompt caches' } as const;
