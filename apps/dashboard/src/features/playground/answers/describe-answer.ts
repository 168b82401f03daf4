import type { Log } from '../../../api/logs';
import { formatCount, formatMs, NOTHING } from '../../../format/format-number';
import { formatUsd } from '../../../format/format-usd';
import type { Run } from '../playground-store';
import type { ChatOutcome } from '../send-chat';

/** Heading of an answer: the model that gave it, and why it isn't the requested one. */
export interface AnswerHead {
  readonly model: string;
  /** Null while unknown, or if the requested model answered. */
  readonly reason: string | null;
  readonly price: string | null;
}

export function describeAnswer({
  model: asked,
  headers,
  outcome,
}: Pick<Run, 'model' | 'headers' | 'outcome'>): AnswerHead {
  const told = new Map(headers);
  const [model = asked, provider] = [told.get('x-model'), told.get('x-provider')];
  const isAsked = model === asked || `${provider}/${model}` === asked;
  const costUsd = outcome?.costUsd ?? null;
  return {
    model,
    reason: isAsked && !told.has('x-failover') ? null : `${reasonFor(told)}${isAsked ? '' : `, requested: ${asked}`}`,
    price: costUsd === null ? null : formatUsd(costUsd),
  };
}

type Bill = Pick<ChatOutcome, 'costUsd' | 'tokensIn' | 'tokensOut'>;

/** Sound has no place for its bill: its row has it. */
export const isBilledLater = ({ costUsd, fault, media }: Pick<ChatOutcome, 'costUsd' | 'fault' | 'media'>): boolean =>
  costUsd === null && fault === null && media.length > 0;

/** The answer's own bill, else that of its row. No tokens at all: something else is billed. */
export function billOf(told: Bill, row: Pick<Log, 'cost_usd' | 'tokens_in' | 'tokens_out'> | null): Bill {
  if (row === null) return told;
  const isByToken = row.tokens_in + row.tokens_out > 0;
  return {
    costUsd: told.costUsd ?? row.cost_usd,
    tokensIn: told.tokensIn ?? (isByToken ? row.tokens_in : null),
    tokensOut: told.tokensOut ?? (isByToken ? row.tokens_out : null),
  };
}

/** Figures of an answer. The log has the gateway's own times, without the way to this browser. */
export function measuresOf(
  { ttftMs, totalMs }: Pick<ChatOutcome, 'ttftMs' | 'totalMs'>,
  { costUsd, tokensIn, tokensOut }: Bill,
): readonly (readonly [name: string, value: string])[] {
  return [
    ['Cost', costUsd === null ? NOTHING : formatUsd(costUsd)],
    ['First token in this browser', formatMs(ttftMs)],
    ['Total in this browser', formatMs(totalMs)],
    ['Tokens in', tokensIn === null ? NOTHING : formatCount(tokensIn)],
    ['Tokens out', tokensOut === null ? NOTHING : formatCount(tokensOut)],
  ];
}

function reasonFor(told: ReadonlyMap<string, string>): string {
  const by = told.has('x-provider') ? `from ${told.get('x-provider')}` : 'another model';
  if (told.has('x-failover'))
    return `${by}, because ${told.get('x-original-provider') ?? 'an earlier target'} failed or was skipped`;
  if (told.has('x-downgraded-from')) return `${by}, because the budget switched to a cheaper model`;
  return `${by}, chosen by the alias`;
}
