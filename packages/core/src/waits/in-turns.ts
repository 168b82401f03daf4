/** Resolves once everything else that is ready had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
