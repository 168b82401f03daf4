import { invalidRequest } from '@llm0/core/errors/gateway-error';

const HEADER = 'x-llm0-run-id';
const RUN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** What groups the calls of one agent's run: the caller's own, or a new one. Throws `invalid_request`. */
export function readRunId(headers: Headers, createId: () => string): string {
  const sent = headers.get(HEADER)?.trim();
  if (sent === undefined || sent === '') return createId();
  if (RUN_ID.test(sent)) return sent;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Id must be 1 to 128 letters, digits or any of ". _ : -".');
}
