import { type CompileOptions, compileAll } from './compile-guardrails';
import type { GuardrailSide } from './guardrails';
import { Guardrails } from './guardrails';
import type { GuardrailPart, GuardrailRule } from './policy';
import { RequestGuard } from './request-guard';

export interface Tryout extends Pick<CompileOptions, 'checks'> {
  readonly rules: readonly GuardrailRule[];
  readonly text: string;
  readonly on: GuardrailSide;
  readonly part: GuardrailPart;
  readonly projectId: string;
}

export interface Tried {
  /** All that are asked about such a text, in order. */
  readonly rules: readonly {
    name: string;
    matches: number;
    action: GuardrailRule['action'];
    error: 'timeout' | 'failed' | null;
  }[];
  /** The resulting text; for a blocked one, with the other rules' changes. */
  readonly text: string;
  readonly blockedBy: string | null;
}

/** Applies rules to one text, each alone as far as a refusal allows: a refusing rule stops no other one. */
export async function tryRules({ rules, checks, text, on, part, projectId }: Tryout): Promise<Tried> {
  const refusing = new Set(rules.filter(({ action }) => action === 'block' || action === 'retry'));
  const watching = rules.map((rule): GuardrailRule => {
    return { ...rule, ...(refusing.has(rule) ? { action: 'flag' } : {}), onError: 'allow' };
  });
  const compiled = compileAll(watching, { checks, isShadow: false });
  const guardrails = new Guardrails(compiled, '', { scope: 'request' });
  const guard = new RequestGuard(guardrails, {
    ...{ projectId, keyId: projectId, requestId: projectId, customerId: undefined },
    monotonicMs: () => performance.now(),
  });
  const result = await guard.judge(text, { on, part });
  const marks = guard.list() ?? [];
  const tried = rules
    .filter((rule) => (rule.on === 'both' || rule.on === on) && rule.parts?.includes(part) !== false)
    .map((rule) => {
      const own = marks.filter((mark) => mark.rule === rule.name);
      const matches = own.reduce((sum, { count }) => sum + count, 0);
      const error = own.find((mark) => mark.error !== undefined)?.error ?? null;
      return { name: rule.name, matches, action: rule.action, error };
    });
  const isRefusing = ({ name }: { name: string }) => rules.some((rule) => rule.name === name && refusing.has(rule));
  const stops = ({ name, error }: (typeof tried)[number]) =>
    error !== null && rules.some((rule) => rule.name === name && rule.onError === 'block');
  const blocked = tried.find((one) => (one.matches > 0 && isRefusing(one)) || stops(one));
  return { rules: tried, text: result, blockedBy: blocked?.name ?? null };
}
