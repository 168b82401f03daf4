/** Time-outs of a target in milliseconds; absent = the gateway's. */
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

/** The first defined value, the narrowest first. */
export function timeoutsOf(...given: readonly (Given | undefined)[]): Timeouts | undefined {
  const requestMs = given.map((one) => one?.requestMs).find((ms) => ms != null) ?? undefined;
  const answerMs = given.map((one) => one?.answerMs).find((ms) => ms != null) ?? undefined;
  if (requestMs === undefined && answerMs === undefined) return undefined;
  return { ...(requestMs === undefined ? {} : { requestMs }), ...(answerMs === undefined ? {} : { answerMs }) };
}

/** The gateway's limit in milliseconds. */
export interface TimeoutLimits {
  readonly requestTimeoutMs: number;
  readonly answerTimeoutMs: number;
  /** True if the gateway can't see whether the host accepts connections. */
  readonly isBehindProxy: boolean;
}

export interface Timed {
  /** The answer is no stream: its time-out is to its end. */
  readonly isPlain: boolean;
  /** The caller's upper limit; absent = the gateway's. */
  readonly atMostMs?: number | undefined;
}

/** Time-out of one attempt in milliseconds. */
export function attemptTimeoutMs(
  own: Timeouts | undefined,
  limits: TimeoutLimits,
  { isPlain, atMostMs }: Timed,
): number {
  const ms = isPlain ? (own?.answerMs ?? limits.answerTimeoutMs) : (own?.requestMs ?? limits.requestTimeoutMs);
  return atMostMs === undefined ? ms : Math.min(ms, atMostMs);
}

/** Connect time-out in milliseconds; undefined: only the whole attempt has one. */
export const connectTimeoutMs = (own: Timeouts | undefined, limits: TimeoutLimits): number | undefined =>
  limits.isBehindProxy ? undefined : (own?.requestMs ?? limits.requestTimeoutMs);
