import { failureRate } from '@llm0/core/errors/outcome';
import { formatCount, formatShare } from './format-number';

interface Outcomes {
  readonly requests: number;
  readonly success: number;
  readonly failures: number;
}

/** Share of failures as it stands beside their count: names its base where that isn't all requests. */
export function describeFailedShare({ requests, success, failures }: Outcomes): string {
  const share = formatShare(failureRate({ success, failures }));
  const judged = success + failures;
  return judged === 0 || judged === requests ? share : `${share} of ${formatCount(judged)} answered or failed`;
}
