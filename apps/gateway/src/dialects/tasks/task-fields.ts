import type { JsonObject } from '@llm0/core/chat/json';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskSummary } from '../dialect';
import { roundMs } from '../encode-metadata';
import { checkDepth, decodeModel, readString } from '../read-fields';

/** Model and user of a request, and the fields beyond `known`. */
export function readCommon(
  body: JsonObject,
  known: ReadonlySet<string>,
): Pick<TaskRequest, 'model' | 'user' | 'extra'> {
  checkDepth(body);
  const extra: JsonObject = {};
  for (const name in body) {
    const value = body[name];
    if (!known.has(name) && !COMMON.has(name) && value !== undefined && value !== null) extra[name] = value;
  }
  return { model: decodeModel(body.model), user: readString(body, 'user'), extra };
}

const COMMON: ReadonlySet<string> = new Set(['model', 'user']);

/** What this gateway adds to an answer. */
export function encodeFacts({ latencyMs, costNanoUsd }: TaskSummary): JsonObject {
  return { latency_ms: roundMs(latencyMs), cost_usd: costNanoUsd / NANO };
}

const NANO = 1e9;
