export const showInstant = (ms: number): string => new Date(ms).toISOString();

export const showInstantOrNull = (ms: number | null): string | null => (ms === null ? null : showInstant(ms));

/** Milliseconds to the microsecond: clocks are not exact beyond. */
export const showMs = (ms: number): number => Math.round(ms * 1000) / 1000;

export const showMsOrNull = (ms: number | null): number | null => (ms === null ? null : showMs(ms));
