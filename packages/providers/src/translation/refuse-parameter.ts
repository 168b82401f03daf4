import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext } from '../provider-request';

/** Called for a parameter that cannot be honoured: throws, or notes it as dropped. `reason` stands before the model. */
export type Refuse = (param: string, reason: string) => void;

/** Keeps the names of what was left out; refuses with `unsupported_parameter` unless the caller allowed dropping. */
export class DroppedParameters {
  private readonly dropped = new Set<string>();

  constructor(private readonly context: Pick<EncodeContext, 'dropParams' | 'model'>) {}

  /** The caller allowed dropping. */
  get allowed(): boolean {
    return this.context.dropParams;
  }

  readonly refuse: Refuse = (param, reason) => {
    if (!this.context.dropParams) throw unsupportedParameter(param, this.context.model, reason);
    this.dropped.add(param);
  };

  /** Left out whatever the caller said: without it the request would fail, with it nothing else is lost. */
  note(param: string): void {
    this.dropped.add(param);
  }

  names(): readonly string[] {
    return [...this.dropped];
  }
}

function unsupportedParameter(param: string, model: string, reason: string): GatewayError {
  const advice = 'Leave it out, or send X-LLM0-Drop-Params: true to have it dropped.';
  return new GatewayError('unsupported_parameter', `"${param}" ${reason} ${model}. ${advice}`, { param });
}
