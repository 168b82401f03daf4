/** `YYYY-MM-DD` of an instant, UTC. */
export const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
