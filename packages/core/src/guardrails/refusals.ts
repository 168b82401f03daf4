import { GatewayError } from '../errors/gateway-error';
import type { CompiledRule } from './guardrails';
import type { Place } from './marks';

/** Requests another answer; `reason` tells the model the problem. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';

  constructor(
    readonly rule: CompiledRule,
    readonly reason: string | undefined,
  ) {
    super('a guardrail asks for another answer');
  }
}

/** Names the rule, never the find. */
export function blockedBy({ name }: Pick<CompiledRule, 'name'>, on: Place['on']): GatewayError {
  const what = on === 'input' ? 'request' : 'answer';
  return new GatewayError('guardrail_blocked', `The guardrail "${name}" of this project blocks this ${what}.`, {
    param: name,
  });
}
