import { z } from '@hono/zod-openapi';
import { RUN_STATES, type RunItem, type RunUsage, runStateOf, type StoredRun } from '@llm0/drizzle/queries/limits/runs';
import { instantShown, usd, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

export const raiseSchema = z
  .strictObject({ budget_usd: usd.openapi({ description: 'New budget of the whole run, above the present one' }) })
  .openapi('RunRaise');

const item = z.object({
  type: z.enum(['request', 'tool_call']),
  request_id: z.string(),
  created_at: instantShown.openapi({ description: 'When its limits let it pass, or refused it' }),
  name: z.string().openapi({ description: 'Model, or server and tool' }),
  status: z.string(),
  error_code: z.string().nullable(),
  cost_usd: usdShown,
  tokens_total: z.number(),
  latency_ms: z.number(),
  overhead_ms: z.number().nullable(),
});

export const runState = z.enum(RUN_STATES);

const run = z.object({
  id: z.string().openapi({ description: '`X-LLM0-Run-Id`' }),
  project_id: z.string(),
  state: runState,
  budget_usd: usdShown.nullable().openapi({ description: 'null = the run has no budget' }),
  spent_usd: usdShown,
  requests: z.number(),
  tool_calls: z.number(),
  started_at: instantShown.nullable(),
  last_active_at: instantShown.nullable().openapi({ description: 'Of its newest request or tool call; null without' }),
  ended_at: instantShown.nullable(),
});

export const runSchema = run.openapi('Run');
export const runDetailSchema = run
  .extend({
    may_change: z.boolean().openapi({ description: 'You may stop it, and raise its budget' }),
    items: z.array(item).openapi({ description: 'Requests and tool calls in order, at most 1,000' }),
  })
  .openapi('RunDetail');

/** A run of a project, with or without a budget. */
export interface ShownRun {
  readonly run: Pick<StoredRun, 'projectId' | 'runId'> & Partial<StoredRun>;
  readonly usage: RunUsage;
}

export const showRun = ({ run: stored, usage }: ShownRun) =>
  showFields(run, {
    id: stored.runId,
    projectId: stored.projectId,
    state: runStateOf(stored),
    budgetNanoUsd: stored.budgetNanoUsd ?? null,
    ...usage,
    startedAtMs: stored.createdAtMs ?? usage.firstAtMs,
    lastActiveAtMs: usage.lastAtMs,
    endedAtMs: stored.stoppedAtMs ?? null,
  });

export const showRunItem = (one: RunItem) => showFields(item, one);
