// A failed check follows its rule's `on_error`; unless that is `allow`, the request is refused.
import type { ChatRequest } from '@llm0/core/chat/request';
import { guardRequest } from '@llm0/core/guardrails/chat/guard-request';
import { chosenGuardrails, type Guardrails } from '@llm0/core/guardrails/guardrails';
import { namesIn } from '@llm0/core/guardrails/pseudonyms';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import { limitOutput } from '@llm0/core/pricing/fit-output';
import type { Services } from '../../services/contract';
import { type Admission, replaceModel } from '../request/admit';
import { type Authenticated, latestPrincipal } from '../request/authenticate';
import type { RequestContext } from '../request/open-context';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

/** A request that passed its guardrails, and the judge of its answer. */
export interface GuardedRequest<R> {
  readonly guard: RequestGuard;
  /** Owner of the guardrails. */
  readonly principal: Authenticated;
  /** The checked request; the same object if unchanged. */
  readonly request: R;
}

/** Checks of one kind of request. */
export interface JudgedKind<R> {
  judge(guard: RequestGuard, request: R): Promise<R>;
  /** All of its text. */
  textOf(request: R): unknown;
}

export interface GuardInput<R = ChatRequest> {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly request: R;
  /** Receives the request's guard first, so that the row shows its findings. */
  readonly progress: { guard?: RequestGuard };
}

type WithGuardrails = Pick<Authenticated, 'guardrails'>;

/** False for nearly all requests, which then skip everything. */
export const isGuarded = ({ controls }: RequestContext, { guardrails }: WithGuardrails): boolean =>
  guardrails !== undefined || controls.guardrail !== undefined;

/** True if the guardrails that judged the request are still in force at admission. */
export const isSame = (
  guarding: { readonly principal: WithGuardrails } | undefined,
  { principal }: { readonly principal: WithGuardrails },
): boolean => guarding?.principal.guardrails === principal.guardrails;

/**
 * Judges a chat request before any hold or call. If admission reports newer guardrails, it judges again. It looks at
 * the hot store earlier only for a refusal or for checks by others.
 */
export async function guardInput(services: Needs, input: GuardInput): Promise<GuardedRequest<ChatRequest> | undefined> {
  const known = input.principal;
  if (known.guardrails?.asksWholeInput === true) return guardKind(services, input, CHAT);
  try {
    return await judge(services, input, CHAT);
  } catch (refusal) {
    const principal = await latestPrincipal(services, known);
    if (principal.guardrails === known.guardrails) throw refusal;
    return judge(services, { ...input, principal }, CHAT);
  }
}

const CHAT: JudgedKind<ChatRequest> = {
  judge: guardRequest,
  textOf: ({ messages, prompt }) => [messages, prompt],
};

/** The admission with the judged request; its plan may have changed the model. */
export function withGuarded(admission: Admission, guarded: GuardedRequest<ChatRequest> | undefined): Admission {
  if (guarded === undefined) return admission;
  const { request: judged } = guarded;
  const { model, maxOutputTokens } = admission.plan.request;
  const toSend = judged.model === model ? judged : replaceModel(judged, model);
  if (maxOutputTokens === undefined || maxOutputTokens === toSend.maxOutputTokens) return { ...admission, toSend };
  return { ...admission, toSend: limitOutput(toSend, maxOutputTokens) };
}

/**
 * Judges by the current rules, which costs a look at the hot store, because rules may send the text to others. Throws
 * `guardrail_blocked`. undefined without rules.
 */
export async function guardKind<R>(
  services: Needs,
  input: GuardInput<R>,
  kind: JudgedKind<R>,
): Promise<GuardedRequest<R> | undefined> {
  const principal = await latestPrincipal(services, input.principal);
  return judge(services, { ...input, principal }, kind);
}

async function judge<R>(
  { clock }: Pick<Needs, 'clock'>,
  { ctx, principal, request, progress }: GuardInput<R>,
  kind: JudgedKind<R>,
): Promise<GuardedRequest<R> | undefined> {
  const guardrails = chosenGuardrails(principal.guardrails, ctx.controls.guardrail);
  if (guardrails === undefined) return undefined;
  const hasName = findsNames(() => kind.textOf(request));
  const guard = createGuard({ clock }, { ctx, principal, guardrails, hasName });
  progress.guard = guard;
  return { guard, principal, request: await kind.judge(guard, request) };
}

export interface GuardOf {
  readonly ctx: RequestContext;
  readonly principal: Pick<Authenticated, 'key' | 'project'>;
  readonly guardrails: Guardrails;
  readonly hasName?: (name: string) => boolean;
}

/** Guardrails of one request. */
export function createGuard(
  { clock }: Pick<Needs, 'clock'>,
  { ctx, principal, guardrails, hasName }: GuardOf,
): RequestGuard {
  return new RequestGuard(guardrails, {
    projectId: principal.project.id,
    keyId: principal.key.id,
    requestId: ctx.requestId,
    customerId: ctx.customerId,
    monotonicMs: () => clock.monotonicMs(),
    hasName,
  });
}

/** Checked before creating a pseudonym: a text that contains it keeps it. */
function findsNames(textOf: () => unknown): (name: string) => boolean {
  let all: ReadonlySet<string> | undefined;
  return (name) => {
    all ??= namesIn(JSON.stringify(textOf()));
    return all.has(name);
  };
}
