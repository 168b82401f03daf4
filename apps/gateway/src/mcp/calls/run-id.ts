import { readRunId as readSentRunId } from '../../pipeline/request/open-context';

/** Run id of an agent's calls: the caller's, or a new one. Throws `invalid_request`. */
export const readRunId = (headers: Headers, createId: () => string): string => readSentRunId(headers) ?? createId();
