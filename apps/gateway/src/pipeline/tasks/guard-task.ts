import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { guardValue } from '@llm0/core/guardrails/chat/guard-response';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { AnswerRefused, blockedBy } from '@llm0/core/guardrails/refusals';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { Services } from '../../services/contract';
import { type GuardedRequest, type GuardInput, guardKind } from '../guard/guard-input';
import { judgesAnswers } from '../guard/guard-native';
import type { JudgedAnswer, Task } from './task';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

/** Judges a request before any hold or call. Throws `guardrail_blocked`; undefined without rules. */
export function guardTask<R extends TaskRequest, A extends JsonObject>(
  services: Needs,
  task: Pick<Task<R, A>, 'judge' | 'judgeSaid' | 'textOf'>,
  input: GuardInput<R>,
): Promise<GuardedRequest<R> | undefined> {
  const judge = async (guard: RequestGuard, request: R) => {
    const { guardrails } = guard;
    const passed = guardrails.asksInput ? await judgeInput(task, guard, request) : request;
    if (task.judgeSaid === undefined || !guardrails.asksOutput) return passed;
    const texts = new GuardedTexts(guard, 'output');
    // The vendor gets it, so that pseudonyms stay.
    return { ...passed, ...(await task.judgeSaid((text) => refusing(texts.text(text, 'assistant')), passed)) };
  };
  return guardKind(services, input, { judge, textOf: (request) => task.textOf(request) });
}

async function judgeInput<R extends TaskRequest, A extends JsonObject>(
  task: Pick<Task<R, A>, 'judge'>,
  guard: RequestGuard,
  request: R,
): Promise<R> {
  const by = { texts: new GuardedTexts(guard, 'input'), enforcing: guard.guardrails.enforcing('input') };
  const judged = await task.judge(by, request);
  return { ...request, ...(await judgeRest(by.texts, request, judged)), ...judged };
}

/** Checked by their decoder, or files. The model decides about the route. */
const APART: ReadonlySet<string> = new Set(['model', 'stream', 'size', 'file', 'facts', 'pictures', 'mask']);

/** Judges all that goes to the vendor besides, by all rules. */
async function judgeRest<R extends TaskRequest>(
  texts: GuardedTexts,
  request: R,
  judged: Partial<R>,
): Promise<Partial<R>> {
  const rest: JsonObject = {};
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || name in judged || APART.has(name)) continue;
    rest[name] = await texts.value(value as JsonValue, undefined, name);
  }
  return rest as Partial<R>;
}

/** The answer as its caller may see it. */
export async function judgeAnswer<R extends TaskRequest, A extends JsonObject>(
  { judgeAnswer }: Pick<Task<R, A>, 'judgeAnswer'>,
  answer: A,
  guard: RequestGuard | undefined,
): Promise<A> {
  if (judgeAnswer === undefined || !judgesAnswers(guard)) return answer;
  return judgeAnswer(judgeOf(guard), answer);
}

function judgeOf(guard: RequestGuard): JudgedAnswer {
  const texts = new GuardedTexts(guard, 'output');
  const mayChange = guard.guardrails.actsOnOutput || guard.hasPseudonyms;
  return {
    text: async (text) => guard.restore(await refusing(texts.text(text, 'assistant'))),
    value: async (value) => (mayChange ? refusing(guardValue(guard, texts, value)) : value),
  };
}

/** A rule that would ask again refuses: a task is asked once. */
async function refusing<T>(judged: Promise<T>): Promise<T> {
  try {
    return await judged;
  } catch (cause) {
    throw cause instanceof AnswerRefused ? blockedBy(cause.rule, 'output') : cause;
  }
}
