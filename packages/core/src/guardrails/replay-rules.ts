import type { JsonValue } from '../chat/json';
import { bodyTexts } from './body-texts';
import { type CompileOptions, compileAll } from './compile-guardrails';
import { type GuardrailSide, Guardrails } from './guardrails';
import type { GuardrailAction, GuardrailPart, GuardrailRule } from './policy';
import { RequestGuard } from './request-guard';

/** Checks that call others and may cost money: a replay skips them. */
const ASKING_OTHERS: ReadonlySet<string> = new Set(['moderation', 'webhook']);

/** A stored past request. */
export interface PastRequest {
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly request: JsonValue;
  readonly response: JsonValue;
}

export interface PastVerdict {
  readonly requestId: string;
  readonly createdAtMs: number;
  /** Rules with findings, with their count. */
  readonly rules: readonly { readonly name: string; readonly matches: number }[];
  /** The first of them that does not let it pass. */
  readonly blockedBy: string | null;
}

export interface RuleSum {
  readonly name: string;
  readonly action: GuardrailAction;
  /** Requests in which it would have found something. */
  readonly requests: number;
  readonly matches: number;
  /** Requests that it could not be asked about. */
  readonly failures: number;
  /** Its check calls a model or webhook, which the replay skips. */
  readonly isSkipped: boolean;
}

const SIDES: Readonly<Record<GuardrailSide, GuardrailPart>> = { input: 'user', output: 'assistant' };

/** Replays rules over past requests, each rule alone. Changes, stores and sends nothing. */
export class RuleReplay {
  private readonly guardrails: Guardrails;
  private readonly sums: Map<string, { requests: number; matches: number; failures: number }>;

  constructor(
    private readonly rules: readonly GuardrailRule[],
    { checks, projectId }: Pick<CompileOptions, 'checks'> & { readonly projectId: string },
  ) {
    const asked = rules.filter(({ check }) => !ASKING_OTHERS.has(check.type));
    const watching = asked.map((rule): GuardrailRule => ({ ...rule, action: 'flag', onError: 'allow' }));
    this.guardrails = new Guardrails(compileAll(watching, { checks, isShadow: false }), '', { scope: 'request' });
    this.sums = new Map(rules.map(({ name }) => [name, { requests: 0, matches: 0, failures: 0 }]));
    this.projectId = projectId;
  }

  private readonly projectId: string;

  /** undefined where no rule finds anything. */
  async judge({ requestId, createdAtMs, request, response }: PastRequest): Promise<PastVerdict | undefined> {
    const { projectId } = this;
    const guard = new RequestGuard(this.guardrails, {
      ...{ projectId, keyId: projectId, requestId, customerId: undefined },
      monotonicMs: () => performance.now(),
    });
    for (const [on, body] of [
      ['input', request],
      ['output', response],
    ] as const)
      for (const { text, part } of bodyTexts(body, SIDES[on])) await guard.judge(text, { on, part });
    const found = new Map<string, number>();
    const failed = new Set<string>();
    for (const { rule, count, error } of guard.list() ?? []) {
      if (error === undefined) found.set(rule, (found.get(rule) ?? 0) + count);
      else failed.add(rule);
    }
    this.count(found, failed);
    if (found.size === 0) return undefined;
    const blocking = this.rules.find(
      ({ name, action }) => found.has(name) && (action === 'block' || action === 'retry'),
    );
    const rules = Array.from(found, ([name, matches]) => ({ name, matches }));
    return { requestId, createdAtMs, rules, blockedBy: blocking?.name ?? null };
  }

  /** Sums over all judged requests. */
  summary(): readonly RuleSum[] {
    return this.rules.map(({ name, action, check }) => ({
      ...{ name, action, requests: 0, matches: 0, failures: 0, ...this.sums.get(name) },
      isSkipped: ASKING_OTHERS.has(check.type),
    }));
  }

  private count(found: ReadonlyMap<string, number>, failed: ReadonlySet<string>): void {
    for (const [name, matches] of found) {
      const sums = this.sums.get(name);
      if (sums === undefined) continue;
      sums.requests += 1;
      sums.matches += matches;
    }
    for (const name of failed) {
      const sums = this.sums.get(name);
      if (sums !== undefined) sums.failures += 1;
    }
  }
}
