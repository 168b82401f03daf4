// A failed check follows its rule's `on_error`; unless that is `allow`, the list omits the item.
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { guardListed } from '@llm0/core/guardrails/chat/guard-listed';
import { guardToolResult } from '@llm0/core/guardrails/chat/guard-tool-result';
import { chosenGuardrails, type Guardrails, sha256 } from '@llm0/core/guardrails/guardrails';
import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import { LRUCache } from 'lru-cache';
import type { CodeModeResult } from '../../code-mode/code-mode-call';
import { createGuard } from '../../pipeline/guard/guard-input';
import type { Services } from '../../services/contract';
import type { McpRequest } from '../endpoint/mcp-request';

type Needs = Pick<Services, 'clock' | 'metrics'>;
type Asking = Pick<McpRequest, 'ctx' | 'principal'>;

/** The visible part of a list, after the guardrails. */
export type JudgeItems = <T extends object>(items: readonly T[]) => Promise<readonly T[]>;

const KEPT = 5000;
/** Lists are requested often and change rarely: caches each item's result by content; null if omitted. */
const judged = new WeakMap<Guardrails, LRUCache<string, JudgedItem>>();

interface JudgedItem {
  readonly item: JsonObject | null;
  /** False after a failed check, which runs again. */
  readonly lasts: boolean;
}

/** Judges servers' tools, prompts and resources by a key's guardrails. Throws if the header names no rule. */
export function listJudge(services: Needs, asking: Asking): JudgeItems {
  const guardrails = guardrailsOf(asking);
  if (guardrails?.asksOutput !== true) return async (items) => items;
  const known = judged.get(guardrails) ?? new LRUCache({ max: KEPT });
  judged.set(guardrails, known);
  const scope = guardrails.cacheScope(asking.ctx.customerId);
  return async <T extends object>(items: readonly T[]) => {
    const passed: T[] = [];
    for (const item of items) {
      const id = sha256(`${scope} ${JSON.stringify(item)}`);
      const found = known.get(id) ?? (await judgeItem(services, { ...asking, guardrails }, item as JsonObject));
      if (found.lasts) known.set(id, found);
      if (found.item !== null) passed.push(found.item as T);
    }
    return passed;
  };
}

type Judging = Asking & { readonly guardrails: Guardrails };

async function judgeItem(services: Needs, judging: Judging, item: JsonObject): Promise<JudgedItem> {
  const guard = createGuard(services, judging);
  const passed = await guardListed(guard, item);
  const marks = guard.list();
  if (marks !== undefined) services.metrics.observeGuardrails(marks);
  return { item: passed ?? null, lasts: marks?.some(({ error }) => error !== undefined) !== true };
}

export interface JudgedResult {
  readonly result: CodeModeResult;
  /** For its row. */
  readonly marks: readonly GuardrailMark[] | undefined;
  /** Refuses the whole item. */
  readonly refusal?: GatewayError;
}

/** Checks Code Mode's output: results like tool results, the rest like server lists. */
export async function guardCodeResult(
  services: Needs,
  asking: Asking,
  { result, isScript }: { readonly result: CodeModeResult; readonly isScript: boolean },
): Promise<JudgedResult> {
  const guardrails = guardrailsOf(asking, !isScript);
  if (guardrails?.asksOutput !== true) return { result, marks: undefined };
  const guard = createGuard(services, { ...asking, guardrails });
  try {
    const { content } = await guardToolResult(guard, { content: result.content.map((one) => ({ ...one })) });
    return { result: { ...result, content: content as unknown as CodeModeResult['content'] }, marks: guard.list() };
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause;
    return { result, marks: guard.list(), refusal: cause };
  }
}

function guardrailsOf({ principal, ctx }: Asking, isListed = true): Guardrails | undefined {
  const { guardrail } = ctx.controls;
  if (principal.guardrails === undefined && guardrail === undefined) return undefined;
  const chosen = chosenGuardrails(principal.guardrails, guardrail);
  return isListed ? chosen?.ofDescriptions : chosen;
}
