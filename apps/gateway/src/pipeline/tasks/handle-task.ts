// Without the hot store, tasks fail as chat does. A caller that leaves cancels the vendor, and pays for what it may bill.
import { type CachedTask, digestTask } from '@llm0/core/cache/cached-task';
import type { JsonObject } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskAnswer } from '@llm0/providers/transport/call-task';
import type { TaskBody, TaskDialect } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { type GuardedRequest, isGuarded, isSame } from '../guard/guard-input';
import { judgesAnswers } from '../guard/guard-native';
import { handleRefusal, type Progress } from '../handle-refusal';
import type { AdmitInput } from '../request/admit';
import { admitInTurn } from '../request/admit-in-turn';
import { authenticate, type ChosenKey } from '../request/authenticate';
import { claimOrReplay, IDEMPOTENCY_KEY, UNCLAIMED } from '../request/idempotency';
import { openContext } from '../request/open-context';
import { readRequestBody } from '../request/read-request';
import { askTargets, guessTask, type TaskResponse } from './ask-target';
import { guardTask, judgeAnswer } from './guard-task';
import { isCacheable, planTask, type TaskJob, taskPlanner } from './plan-task';
import { readAudioForm } from './read-audio-form';
import { checkBodyType, isJson, readForm } from './read-form';
import { readReferences } from './read-references';
import { respondStream, respondWhole, type ServedTask } from './respond-task';
import type { Task } from './task';
import { TaskMeter } from './task-meter';

/** One path: a task in one client-facing format. */
export interface TaskEndpoint<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly dialect: TaskDialect<R, A>;
}

/** A request of a model for anything but text and vectors: `POST /v1/rerank`, `/v1/images/generations`, … */
export async function handleTask<R extends TaskRequest, A extends JsonObject>(
  services: Services,
  endpoint: TaskEndpoint<R, A>,
  httpRequest: Request,
  chosen?: ChosenKey,
): Promise<Response> {
  const { dialect, task } = endpoint;
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  let isStreamed = false;
  const open: OpenForm = {};
  const end = () => {
    void open.close?.();
    underWay.end();
  };
  try {
    const ctx = openContext(services, httpRequest, { held: underWay.held, chosen });
    progress.ctx = ctx;
    const principal = await authenticate(services, httpRequest, chosen);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const projectId = principal.project.id;
    const request = await readTask(services, { dialect, httpRequest, underWay, progress, open, projectId });
    const guarding = isGuarded(ctx, principal)
      ? await guardTask(services, task, { ctx, principal, request, progress })
      : undefined;
    const isClaimed = httpRequest.headers.has(IDEMPOTENCY_KEY);
    const isHashed = isClaimed || isCacheable(task, { request, ctx, project: principal.project });
    const digest = isHashed ? await digestOf(dialect.name, request, isClaimed) : undefined;
    const job = { model: request.model, request, digest, toSend: guarding?.request };
    const input = {
      ctx,
      principal: guarding?.principal ?? principal,
      dialect: dialect.name,
      request: job,
      httpRequest,
    };
    const { claim, replay } = isClaimed ? await claimTask(services, task, input) : UNCLAIMED;
    progress.claim = claim;
    const admission = replay ?? (await admitInTurn(services, input, taskPlanner(task)));
    progress.principal = admission.principal;
    const meter = new TaskMeter(services, { ctx, dialect: dialect.name, admission });
    progress.meter = meter;
    const guarded = isSame(guarding, admission)
      ? guarding
      : await guardTask(services, task, { ctx, principal: admission.principal, request, progress });
    meter.guard = guarded?.guard;
    const served = { dialect, ctx, admission, meter, httpRequest, claim };
    const answered = await answer(services, { task, served, guarded, onEnd: end });
    isStreamed = answered.isStreamed;
    return answered.response;
  } catch (cause) {
    return await handleRefusal(services, { dialect: dialect.name, envelope: dialect, progress, cause });
  } finally {
    if (!isStreamed) end();
  }
}

/** A form whose file is kept until the end. */
interface OpenForm {
  close?: () => Promise<void>;
}

/** undefined for a file that is still on its way; such a request can't be claimed. */
function digestOf(dialect: string, request: TaskRequest, isClaimed: boolean): Promise<string> | undefined {
  if (request.file?.rest === undefined) return digestTask(dialect, request);
  if (!isClaimed) return undefined;
  throw invalidRequest('Idempotency-Key', 'A file of this size takes no Idempotency-Key. Send the request without it.');
}

interface ReadInput<R extends TaskRequest, A extends JsonObject> {
  readonly dialect: TaskDialect<R, A>;
  readonly httpRequest: Request;
  readonly underWay: UnderWay;
  readonly progress: Progress;
  readonly open: OpenForm;
  readonly projectId: string;
}

type ReadNeeds = Pick<Services, 'config' | 'bodyDeadlines' | 'files' | 'clock'>;

async function readTask<R extends TaskRequest, A extends JsonObject>(
  services: ReadNeeds,
  { progress, ...input }: ReadInput<R, A>,
): Promise<R> {
  const { dialect } = input;
  const body = await readBody(services, input);
  if (typeof body.fields.model === 'string') progress.requestedModel = body.fields.model;
  const request = dialect.decodeRequest(body);
  progress.stream = request.stream;
  return request;
}

async function readBody<R extends TaskRequest, A extends JsonObject>(
  services: ReadNeeds,
  { dialect, httpRequest, underWay, open, projectId }: Omit<ReadInput<R, A>, 'progress'>,
): Promise<TaskBody> {
  const { referencesOf } = dialect;
  if (referencesOf !== undefined && isJson(httpRequest)) {
    const { body } = await readRequestBody(services, httpRequest, underWay);
    return readReferences(services, { body, underWay, projectId, referencesOf });
  }
  checkBodyType(httpRequest, dialect.body);
  if (dialect.body === 'json') {
    return { fields: (await readRequestBody(services, httpRequest, underWay)).body, files: [] };
  }
  const read = dialect.body === 'form' ? readForm : readAudioForm;
  const form = await read(services, httpRequest, underWay);
  open.close = form.close;
  return form;
}

function claimTask<R extends TaskRequest, A extends JsonObject>(
  services: Services,
  task: Task<R, A>,
  input: AdmitInput<TaskJob<R>> & { readonly httpRequest: Request },
) {
  const { request } = input.request;
  return claimOrReplay(services, {
    ...{ answers: services.idempotentTasks, input, httpRequest: input.httpRequest },
    identity: [input.dialect, input.request.model, request.stream, request.user ?? null, input.request.digest],
    planReplay: (stored, principal) => ({
      stored: stored as CachedTask<A>,
      plan: planTask(services, task, { ...input, principal }),
    }),
  });
}

interface Answering<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly served: ServedTask<R, A>;
  readonly guarded: GuardedRequest<R> | undefined;
  readonly onEnd: () => void;
}

interface Answered {
  readonly response: Response;
  /** It ends later. */
  readonly isStreamed: boolean;
}

async function answer<R extends TaskRequest, A extends JsonObject>(
  services: Services,
  { task, served, guarded, onEnd }: Answering<R, A>,
): Promise<Answered> {
  const { meter, admission } = served;
  const guard = guarded?.guard;
  const { stored, plan } = admission;
  if (stored !== undefined) {
    return { response: await respondStored(services, { task, served, guard }, stored), isStreamed: false };
  }
  const request = wholeIfKept(guarded?.request ?? plan.request, served, guard);
  const { id: projectId, strictCaps: isStrict } = admission.principal.project;
  const { ctx, httpRequest } = served;
  const { signal, unwatch } = services.runs.signalFor({ projectId, runId: ctx.runId, signal: httpRequest.signal });
  // A stream has one reader, and stopping a run cancels its calls.
  const isOwn = request.stream || (ctx.runId !== undefined && services.runs.has(projectId, ctx.runId));
  const calling = askTargets(services, {
    ...{ task, isStrict, projectId, request, signal },
    ...{ route: plan.route, dropParams: plan.dropParams, maxAttempts: plan.maxAttempts },
    timed: { isPlain: !request.stream, atMostMs: ctx.controls.timeoutMs },
    ...{ startMs: ctx.startMs, trace: ctx.trace, room: ctx.held },
    sharedBy: isOwn ? undefined : plan.admit.cacheKey,
  });
  meter.watch(calling);
  let isStreamed = false;
  try {
    const called = await calling.response;
    const guess = () => guessTask(services, { task, request, isStrict, projectId }, called.target);
    const { stream } = called;
    if (stream !== undefined) {
      isStreamed = true;
      const end = () => {
        unwatch();
        onEnd();
      };
      return {
        isStreamed,
        response: await respondStream(services, served, { response: called, stream, guess, onEnd: end }),
      };
    }
    return {
      isStreamed,
      response: await respondCalled(services, { task, served, guard, guess, isFree: !calling.pays() }, called),
    };
  } finally {
    if (!isStreamed) unwatch();
  }
}

async function respondStored<R extends TaskRequest, A extends JsonObject>(
  services: Services,
  { task, served, guard }: Pick<Called<R, A>, 'task' | 'served' | 'guard'>,
  stored: CachedTask<A>,
): Promise<Response> {
  const answer = await judgeAnswer(task, stored.answer, guard);
  const summary = served.meter.completeStored(stored);
  const source = { target: stored, cache: summary.cache, dropped: [], failoverCount: 0 };
  return respondWhole(services, served, { answer, summary, source });
}

interface Called<R extends TaskRequest, A extends JsonObject> extends Pick<Answering<R, A>, 'task' | 'served'> {
  readonly guard: RequestGuard | undefined;
  readonly guess: () => Usage;
  /** Another request pays for it. */
  readonly isFree: boolean;
}

async function respondCalled<R extends TaskRequest, A extends JsonObject>(
  services: Services,
  { task, served, guard, guess, isFree }: Called<R, A>,
  called: TaskResponse<A>,
): Promise<Response> {
  const { answer: made, usage } = called.whole as TaskAnswer<A>;
  const answered = { answer: made, usage, guess, effort: called };
  if (isFree) return respondStored(services, { task, served, guard }, served.meter.keptOf(answered));
  served.meter.attach(answered);
  const judged = await judgeAnswer(task, made, guard);
  const summary = served.meter.complete(answered);
  const { target, dropped, failoverCount, attempts } = called;
  const source = { target, cache: 'miss', dropped, failoverCount, attempts } as const;
  return respondWhole(services, served, { answer: judged, summary, source, kept: summary.kept });
}

/** A stream passes unread: an answer that is kept or judged is asked for as a whole. */
function wholeIfKept<R extends TaskRequest, A extends JsonObject>(
  request: R,
  { admission, claim }: ServedTask<R, A>,
  guard: RequestGuard | undefined,
): R {
  const isKept = admission.plan.cacheKey !== undefined || claim.isNone !== true;
  return request.stream && (isKept || judgesAnswers(guard)) ? { ...request, stream: false } : request;
}
