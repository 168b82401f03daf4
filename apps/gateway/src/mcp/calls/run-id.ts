import { readRunId as readSentRunId } from '../../pipeline/request/run-id';

/** What groups the calls of one agent's run: the caller's own, or a new one. Throws `invalid_request`. */
export const readRunId = (headers: Headers, createId: () => string): string => readSentRunId(headers) ?? createId();
