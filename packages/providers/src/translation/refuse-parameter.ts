import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext } from '../provider-request';

/** Handles an unsupported parameter: throws, or records it as dropped. `reason` precedes the model. */
export type Refuse = (param: string, reason: string) => void;

const NONE: readonly string[] = [];

/** Records dropped parameters; refuses with `unsupported_parameter` unless the caller allows dropping. */
export class DroppedParameters {
  private dropped: Set<string> | undefined;

  constructor(private readonly context: Pick<EncodeContext, 'dropParams' | 'model'>) {}

  /** The caller allowed dropping. */
  get allowed(): boolean {
    return this.context.dropParams;
  }

  readonly refuse: Refuse = (param, reason) => {
    if (!this.context.dropParams) throw unsupportedParameter(param, this.context.model, reason);
    this.note(param);
  };

  /** Drops a parameter regardless of the caller's choice: the request would fail, and nothing else is lost. */
  note(param: string): void {
    this.dropped ??= new Set();
    this.dropped.add(param);
  }

  names(): readonly string[] {
    return this.dropped === undefined ? NONE : [...this.dropped];
  }
}

function unsupportedParameter(param: string, model: string, reason: string): GatewayError {
  const advice = 'Leave it out, or send X-LLM0-Drop-Params: true to have it dropped.';
  return new GatewayError('unsupported_parameter', `"${param}" ${reason} ${model}. ${advice}`, { param });
}
