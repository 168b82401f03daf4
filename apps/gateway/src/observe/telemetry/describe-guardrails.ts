import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { SpanEvent } from '@llm0/core/tracing/span';
import { GUARDRAIL_FOUND, OWN } from './names';

/** Guardrail findings of a row: rules and counts, never content. */
export function marksOf(record: LogRecord): readonly GuardrailMark[] {
  const { guardrails } = record as LogRecord & { readonly guardrails?: readonly GuardrailMark[] };
  return guardrails ?? NONE;
}

const NONE: readonly GuardrailMark[] = [];

/** In one word each, for filters; undefined where nothing was found. */
export function guardrailAttributes(record: LogRecord) {
  const marks = marksOf(record);
  if (marks.length === 0) return {};
  return {
    guardrailRules: [...new Set(marks.map(({ rule }) => rule))],
    guardrailActions: [...new Set(marks.map(({ action }) => action))],
  };
}

/** One event a mark. */
export const guardrailEvents = (record: LogRecord, atMs: number): readonly SpanEvent[] =>
  marksOf(record).map(({ rule, on, part, check, action, count, shadow }) => ({
    ...{ name: GUARDRAIL_FOUND, atMs },
    attributes: {
      [OWN.guardrailRule]: rule,
      [OWN.guardrailPart]: `${on} ${part}`,
      [OWN.guardrailCheck]: check,
      [OWN.guardrailAction]: action,
      [OWN.guardrailCount]: count,
      ...(shadow === true ? { [OWN.guardrailShadow]: true } : {}),
    },
  }));
