import { invalidRequest } from '@llm0/core/errors/gateway-error';

const HEADER = 'x-llm0-run-id';
const RUN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's run id; undefined without one. Throws `invalid_request`. */
export function readRunId(headers: Headers): string | undefined {
  const sent = headers.get(HEADER)?.trim();
  if (sent === undefined || sent === '') return undefined;
  if (RUN_ID.test(sent)) return sent;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Id must be 1 to 128 letters, digits or any of ". _ : -".');
}
