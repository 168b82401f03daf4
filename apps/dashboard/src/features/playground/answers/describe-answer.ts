import { formatUsd } from '../../../format/format-usd';
import type { Run } from '../playground-store';

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

function reasonFor(told: ReadonlyMap<string, string>): string {
  const by = told.has('x-provider') ? `from ${told.get('x-provider')}` : 'another model';
  if (told.has('x-failover'))
    return `${by}, because ${told.get('x-original-provider') ?? 'an earlier target'} failed or was skipped`;
  if (told.has('x-downgraded-from')) return `${by}, because the budget switched to a cheaper model`;
  return `${by}, chosen by the alias`;
}
