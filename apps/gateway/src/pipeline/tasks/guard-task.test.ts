import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskDialect } from '../../dialects/dialect';
import { openaiSpeech } from '../../dialects/tasks/audio';
import { openaiDecisions } from '../../dialects/tasks/decisions';
import { openaiImages } from '../../dialects/tasks/images';
import { openaiModerations } from '../../dialects/tasks/moderations';
import { cohereRerank } from '../../dialects/tasks/rerank';
import type { Authenticated } from '../request/authenticate';
import type { RequestContext } from '../request/open-context';
import { guardTask } from './guard-task';
import { DECISION, IMAGE, MODERATION, RERANK, SPEECH } from './kinds';
import type { Task } from './task';

const MAIL = 'ann@example.com';
type AnyDialect = TaskDialect<TaskRequest, JsonObject>;

function principalOf(action: GuardrailRule['action'], on: GuardrailRule['on']): Authenticated {
  const rule: GuardrailRule = { name: 'mail', on, check: { type: 'pii' }, action, onError: 'block' };
  const policy = { mode: 'enforce', rules: [rule], pseudonymScope: 'request', version: 1 } as const;
  return {
    guardrails: new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: '' }),
    ...{ key: { id: 'k', isActive: true, expiresAtMs: null }, project: { id: 'p', isActive: true } },
  } as unknown as Authenticated;
}

/** The request as the vendor gets it, or the name of the rule that refuses it. */
async function judge(
  task: Task,
  dialect: AnyDialect,
  fields: JsonObject,
  [action, on = 'input']: readonly [GuardrailRule['action'], GuardrailRule['on']?],
) {
  const services = {
    clock: { monotonicMs: () => performance.now(), nowMs: () => 0 },
    hotStore: { findStale: async () => [] },
  } as unknown as Parameters<typeof guardTask>[0];
  const ctx = { requestId: 'r', controls: {} } as unknown as RequestContext;
  const request: TaskRequest = dialect.decodeRequest({ fields, files: [] });
  const input = { ctx, principal: principalOf(action, on), request, progress: {} };
  return guardTask(services, task, input).then(
    (guarded) => guarded?.request,
    (error: { param?: string }) => error.param,
  );
}

const kind = (task: unknown, dialect: unknown, fields: JsonObject) => ({
  ...{
    task: task as Task,
    dialect: dialect as AnyDialect,
    fields: { model: 'm', user: 'u', of_vendor: 'v', ...fields } as JsonObject,
  },
});

describe.each([
  kind(IMAGE, openaiImages, {
    prompt: 'p',
    quality: 'q',
    output_format: 'png',
    response_format: 'b64_json',
    style: 's',
  }),
  kind(SPEECH, openaiSpeech, { input: 'i', voice: 'alloy', instructions: 'slowly', response_format: 'mp3' }),
  kind(SPEECH, openaiSpeech, { input: 'i', voice: { id: 'voice_1' } }),
  kind(RERANK, cohereRerank, { query: 'q', documents: ['one', 'two'] }),
  kind(MODERATION, openaiModerations, { input: ['one', 'two'] }),
  kind(DECISION, openaiDecisions, { input: 'i', questions: [{ type: 'predicate', name: 'n', text: 't' }] }),
])('guardrails of $task.noun', ({ task, dialect, fields }) => {
  const texts = Object.keys(fields).filter((name) => name !== 'model');

  test.each(texts)('find what stands in %s', async (name) => {
    const given = JSON.stringify(fields[name]);
    const last = given.lastIndexOf('"', given.lastIndexOf('"') - 1);
    const value = JSON.parse(`${given.slice(0, last)}"${MAIL}"${given.slice(given.lastIndexOf('"') + 1)}`);
    const found = { ...fields, [name]: value };
    expect(await judge(task, dialect, found, ['block'])).toBe('mail');
    expect(JSON.stringify(await judge(task, dialect, found, ['redact']))).not.toContain(MAIL);
  });

  test('leave the rest as it is', async () => {
    const request = dialect.decodeRequest({ fields, files: [] });
    expect(await judge(task, dialect, fields, ['redact'])).toEqual(request);
  });
});

describe('rules for answers', () => {
  const judgeSpeech = (action: GuardrailRule['action'], on: GuardrailRule['on'], fields: JsonObject) =>
    judge(SPEECH as unknown as Task, openaiSpeech as unknown as AnyDialect, { model: 'm', voice: 'v', ...fields }, [
      action,
      on,
    ]);

  test.each(['block', 'retry'] as const)('%s speech by what it will say', async (action) => {
    expect(await judgeSpeech(action, 'output', { input: `Write to ${MAIL}.` })).toBe('mail');
  });

  test('change what speech says', async () => {
    expect(await judgeSpeech('redact', 'output', { input: `Write to ${MAIL}.` })).toMatchObject({
      input: 'Write to [EMAIL].',
    });
  });

  test('leave pseudonyms in what the vendor gets', async () => {
    const judged = await judgeSpeech('pseudonymise', 'both', { input: `Write to ${MAIL}.` });
    expect(JSON.stringify(judged)).not.toContain(MAIL);
  });
});
