/** How long a target may take, in milliseconds; absent = the gateway's. */
export interface Timeouts {
  /** To connect, and to the first event of a stream. */
  readonly requestMs?: number;
  /** To the end of an answer that is no stream. */
  readonly answerMs?: number;
}

interface Given {
  readonly requestMs?: number | null | undefined;
  readonly answerMs?: number | null | undefined;
}

/** What is said, the narrowest first; undefined where nothing is. */
export function timeoutsOf(...given: readonly (Given | undefined)[]): Timeouts | undefined {
  const requestMs = given.map((one) => one?.requestMs).find((ms) => ms != null) ?? undefined;
  const answerMs = given.map((one) => one?.answerMs).find((ms) => ms != null) ?? undefined;
  if (requestMs === undefined && answerMs === undefined) return undefined;
  return { ...(requestMs === undefined ? {} : { requestMs }), ...(answerMs === undefined ? {} : { answerMs }) };
}
