import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { parseUsd } from '@llm0/core/pricing/format-usd';

const HEADER = 'x-llm0-run-id';
const RUN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's run id; undefined without one. Throws `invalid_request`. */
export function readRunId(headers: Headers): string | undefined {
  const sent = headers.get(HEADER)?.trim();
  if (sent === undefined || sent === '') return undefined;
  if (RUN_ID.test(sent)) return sent;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Id must be 1 to 128 letters, digits or any of ". _ : -".');
}

export const RUN_BUDGET = 'x-llm0-run-budget-usd';

/** Budget of the caller's run in nano-USD. Throws `invalid_request`. */
export function readRunBudget(headers: Headers, text: string): number {
  const nanoUsd = parseUsd(text);
  if (nanoUsd === undefined || nanoUsd < 0) {
    throw invalidRequest(
      'X-LLM0-Run-Budget-Usd',
      'X-LLM0-Run-Budget-Usd must be an amount in USD, at most 9 decimals.',
    );
  }
  if ((headers.get(HEADER) ?? '').trim() !== '') return nanoUsd;
  throw invalidRequest('X-LLM0-Run-Id', 'X-LLM0-Run-Budget-Usd needs X-LLM0-Run-Id, the name of the run.');
}
