/** Part of a conversation. Inputs of embeddings are `user`; MCP arguments and results are those of tools. */
export type GuardrailPart = 'system' | 'user' | 'assistant' | 'tool_arguments' | 'tool_results';

export type PiiKind = 'email' | 'phone' | 'card' | 'iban' | 'national_id' | 'ip';

/** Encodings that detectors also decode, if enabled. */
export type Encoding = 'base64';

/** Pattern of a rule, as operators write it. */
export type GuardrailCheck =
  /** `countries`: recognizes their phone numbers without country code; ISO 3166-1. */
  | {
      readonly type: 'pii';
      readonly kinds?: readonly PiiKind[];
      readonly countries?: readonly string[];
      readonly decode?: readonly Encoding[];
    }
  | { readonly type: 'secrets'; readonly decode?: readonly Encoding[] }
  /** RE2's syntax. */
  | { readonly type: 'regex'; readonly pattern: string }
  | { readonly type: 'words'; readonly words: readonly string[] }
  /** Characters of one text. */
  | { readonly type: 'length'; readonly max: number }
  /** Checks the whole output. */
  | { readonly type: 'json_schema'; readonly schema: Readonly<Record<string, unknown>> }
  /** Host names; `*.example.com` matches subdomains. */
  | { readonly type: 'url'; readonly allow?: readonly string[]; readonly deny?: readonly string[] }
  | { readonly type: 'injection' }
  | { readonly type: 'similar_to'; readonly examples: readonly string[]; readonly threshold: number }
  /** `provider/model` of a moderation endpoint or of any chat model. */
  | { readonly type: 'moderation'; readonly model: string }
  | { readonly type: 'webhook'; readonly url: string; readonly timeoutMs: number };

export type GuardrailAction = 'block' | 'redact' | 'pseudonymise' | 'flag' | 'retry';

/** One line of a policy; rules are asked in order. */
export interface GuardrailRule {
  readonly name: string;
  readonly on: 'input' | 'output' | 'both';
  /** All, where absent. */
  readonly parts?: readonly GuardrailPart[];
  readonly check: GuardrailCheck;
  readonly action: GuardrailAction;
  /** With `retry`: how often the model is asked again. */
  readonly maxRetries?: number;
  /** Behaviour if the check fails or times out. */
  readonly onError: 'block' | 'allow';
}

/** Guardrail policy of a project. */
export interface GuardrailPolicy {
  /** `shadow`: everything is judged and logged, nothing is changed. */
  readonly mode: 'off' | 'shadow' | 'enforce';
  readonly rules: readonly GuardrailRule[];
  readonly pseudonymScope: 'request' | 'project';
  /** Counts up with every change. */
  readonly version: number;
}

/** Finding of one rule on a row (`gateway_logs.guardrails`, a list as snake_case JSON), without content. */
export interface GuardrailMark {
  readonly rule: string;
  readonly on: 'input' | 'output';
  readonly part: GuardrailPart;
  readonly check: GuardrailCheck['type'];
  readonly action: GuardrailAction;
  /** Matches. */
  readonly count: number;
  readonly ms: number;
  /** The policy only watches, so nothing changed. */
  readonly shadow?: true;
  /** The check could not be made; with `on_error: allow` that is how something passed. */
  readonly error?: 'timeout' | 'failed';
}
