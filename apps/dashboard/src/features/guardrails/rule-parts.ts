import type { Rule } from '../../api/guardrails';
import { PARTS } from './prepare-guardrails';

export type Part = NonNullable<Rule['parts']>[number];

const ALL = Object.keys(PARTS) as readonly Part[];
/** An answer has no others; results are those of MCP tools. */
const ANSWERED: readonly Part[] = ['assistant', 'tool_arguments', 'tool_results'];

/** The parts that a rule's side has. */
export const partsOf = (on: unknown): readonly Part[] => (on === 'output' ? ANSWERED : ALL);

/** Chosen parts as the API takes them; undefined for all. */
export function partsToSave(parts: readonly string[] | null | undefined, on: unknown): readonly Part[] | undefined {
  const known = partsOf(on).filter((part) => parts?.includes(part) === true);
  return known.length === 0 ? undefined : known;
}

/** Checks that see all of an answer. */
const WHOLE: ReadonlySet<unknown> = new Set<Rule['check']['type']>([
  ...(['length', 'json_schema', 'url', 'injection', 'similar_to', 'moderation', 'webhook'] as const),
]);
const HELD = 'Once the policy is enforced, streamed answers wait for their end: this rule has to see all of one first.';
const MAY_HOLD =
  'Once the policy is enforced, streamed answers wait for their end where a match has no bound (such as .* or a+) or a large ' +
  'count. Saving says so, and so does the list of rules.';

/** Effect of a rule on streams, from its form; null: no extra delay. */
export function streamNote({ on, type, action }: Readonly<Record<string, unknown>>): string | null {
  if (on === 'input' || action === 'flag') return null;
  if (WHOLE.has(type) || action === 'retry') return HELD;
  return type === 'regex' ? MAY_HOLD : null;
}

/** Describes rules that newly delay streams; undefined without any. */
export function newlyHolding(before: readonly string[], after: readonly string[]): string | undefined {
  const names = after.filter((name) => !before.includes(name));
  return names.length === 0 ? undefined : `Streamed answers wait for their end because of: ${names.join(', ')}.`;
}
