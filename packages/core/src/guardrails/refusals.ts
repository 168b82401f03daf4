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

/** Names the rule, never the find. A rule of a level has its name before it: `user/no-mail`. */
export function blockedBy({ name }: Pick<CompiledRule, 'name'>, on: Place['on']): GatewayError {
  const what = on === 'input' ? 'request' : 'answer';
  const cut = name.indexOf('/');
  const owner = cut < 0 ? 'this project' : `the ${name.slice(0, cut)}`;
  const message = `The guardrail "${name.slice(cut + 1)}" of ${owner} blocks this ${what}.`;
  return new GatewayError('guardrail_blocked', message, { param: name });
}
