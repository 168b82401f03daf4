// A check that cannot be made: as its rule's `on_error` says; a request is refused unless that is `allow`.
import type { ChatRequest } from '@llm0/core/chat/request';
import { guardRequest } from '@llm0/core/guardrails/chat/guard-request';
import { chosenGuardrails, type Guardrails } from '@llm0/core/guardrails/guardrails';
import { namesIn } from '@llm0/core/guardrails/pseudonyms';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Services } from '../../services/contract';
import { type Admission, replaceModel } from '../request/admit';
import { type Authenticated, latestPrincipal } from '../request/load-principal';
import type { RequestContext } from '../request/open-context';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

/** A request that its guardrails let pass, and what judges its answer. */
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
  /** All that it says. */
  textOf(request: R): unknown;
}

export interface GuardInput<R = ChatRequest> {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly request: R;
  /** Is told what judges the request, before it does: its row says what was found. */
  readonly progress: { guard?: RequestGuard };
}

type WithGuardrails = Pick<Authenticated, 'guardrails'>;

/** False for nearly all: nothing is done then. */
export const isGuarded = ({ controls }: RequestContext, { guardrails }: WithGuardrails): boolean =>
  guardrails !== undefined || controls.guardrail !== undefined;

/** True if the guardrails that judged the request are still in force at admission. */
export const isSame = (
  guarding: { readonly principal: WithGuardrails } | undefined,
  { principal }: { readonly principal: WithGuardrails },
): boolean => guarding?.principal.guardrails === principal.guardrails;

/**
 * A chat request, before anything is held or sent for it. Its decision tells of guardrails that are in force no longer, and it is
 * judged anew then: the hot store is looked at before only where others are told what it says, or it would be refused.
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

/** The admission with what goes to a vendor; by its plan, the request may ask for another model by now. */
export function withGuarded(admission: Admission, guarded: GuardedRequest<ChatRequest> | undefined): Admission {
  if (guarded === undefined) return admission;
  const { request: judged } = guarded;
  const { model } = admission.plan.request;
  return { ...admission, toSend: judged.model === model ? judged : replaceModel(judged, model) };
}

/**
 * Judges a request by what is in force now, which costs a look at the hot store: rules tell others what they are given.
 * Throws `guardrail_blocked`. undefined where nothing is asked of it any more.
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

/** Looked up once a name is to be given: a text that has it by itself keeps it. */
function findsNames(textOf: () => unknown): (name: string) => boolean {
  let all: ReadonlySet<string> | undefined;
  return (name) => {
    all ??= namesIn(JSON.stringify(textOf()));
    return all.has(name);
  };
}
