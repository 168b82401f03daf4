import { completionTokens, promptTokens, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import type { Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { computeCost, costOfSide, UNPRICED } from '@llm0/core/pricing/compute-cost';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { refuseUnlimited } from '@llm0/core/realtime/conversation-size';
import { notAllowed, withoutOthers } from '@llm0/core/routing/named-targets';
import { passOver } from '@llm0/core/routing/narrow-route';
import { shownName } from '@llm0/core/routing/near-names';
import type { Route, RouteTarget } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { RealtimeProtocol } from '@llm0/providers/transport/call-realtime';
import type { Services } from '../../services/contract';
import type { AdmitInput, Planner } from '../request/admit';
import { orderedRoute } from '../request/plan-request';
import { admitPlan, isModelAllowed, NO_HOLD, preparedRoute, refuseProvider } from '../request/prepared-route';

/** What is asked to be admitted: a session, or something in it that costs money. */
export interface RealtimeJob {
  /** As the caller names it. */
  readonly model: string;
  readonly protocol: RealtimeProtocol;
  readonly isTranscription: boolean;
  readonly part?: SessionPart;
}

/** An answer, a piece of speech that is written down, or a stretch of time. */
export interface SessionPart {
  readonly target: Target;
  /** Another model of the same vendor than the session's. */
  readonly isOther?: true;
  /** The most that it costs; throws under strict caps where nothing bounds it. */
  bound(priced: PricedModel): Usage;
}

export interface RealtimePlan {
  readonly route?: Route;
  readonly admit: AdmitPlan;
  readonly priced: PricedModel | undefined;
  readonly bound: Usage;
}

type Needs = Pick<Services, 'routing' | 'connect'>;
type Input = AdmitInput<RealtimeJob>;

/** Plans sessions and their parts for the decision. */
export const REALTIME: Planner<RealtimeJob, RealtimePlan, never> = {
  plan: (services, input) =>
    input.request.part === undefined ? planSession(services, input) : planPart(services, input, input.request.part),
  withModel: () => {
    const message = "This customer reached its spend limit. A session can't be downgraded.";
    throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
  },
  decodeStored: () => undefined,
};

/** A session holds nothing by itself. Throws for models that may not be called. */
function planSession(services: Needs, input: Input): RealtimePlan {
  checkGuardrails(input);
  const { principal, request: job } = input;
  if (job.model === '') throw invalidRequest('model', namelessMessage(job));
  const tables = services.routing().forProject(principal.project.id);
  const { route: whole } = preparedRoute(principal, tables, {
    model: job.model,
    failover: input.ctx.controls.failover,
  });
  const refuses = refusesWithoutPrice(principal);
  const reasonOf = (target: RouteTarget) => {
    const provider = services.connect(target, principal.project.id)?.provider;
    // Voices and prices of another model are no stand-in that nobody notices.
    if (target.isStandIn || provider?.realtime?.[job.protocol] === undefined) return 'no_endpoint';
    return refuses && !isPriced(target.priced, job) ? 'unpriced' : undefined;
  };
  const able = passOver(whole, reasonOf);
  if (able === undefined) throw refusal(whole, job, reasonOf(whole.targets[0]));
  const route = withoutOthers(orderedRoute(able, tables, ({ priced }) => priced?.prices.input));
  const [target] = route.targets;
  if (principal.project.strictCaps && answers(job)) for (const { priced } of route.targets) checkContext(priced);
  const asked = { ...input, request: { model: job.model, stream: true } };
  const admit = admitPlan(asked, { model: route.limitName, target, hold: NO_HOLD });
  return { route, admit, priced: target.priced, bound: ZERO_USAGE };
}

/** Some sessions name their model in their first message. */
function namelessMessage({ protocol, isTranscription }: RealtimeJob): string {
  if (protocol === 'bidi') return 'The first message must be a "setup" that names its "model".';
  return isTranscription
    ? 'The first message must name the model in "session.audio.input.transcription.model".'
    : 'Name the model of the session in its URL: "?model=…".';
}

/** Sessions whose answers read the conversation again. */
const answers = ({ protocol, isTranscription }: RealtimeJob): boolean =>
  !isTranscription && (protocol === 'realtime' || protocol === 'bidi');

/** Without it, strict caps would refuse each answer. An output limit may still come with the session's settings. */
function checkContext(priced: PricedModel | undefined): void {
  if (priced !== undefined && priced.contextWindow === undefined) throw refuseUnlimited(priced, 'context_window');
}

/** Throws once key or project may use the model no more. */
function planPart(services: Needs, input: Input, { target, isOther, bound: boundOf }: SessionPart): RealtimePlan {
  checkGuardrails(input);
  const { principal, request: job } = input;
  const tables = services.routing().forProject(principal.project.id);
  const priced = tables.prices.find(target.provider, target.model);
  if (isOther === true) checkOther(principal, target);
  else {
    const { targets } = preparedRoute(principal, tables, { model: job.model }).route;
    if (!targets.some((one) => isSameTarget(one, target))) throw notAllowed(job.model);
  }
  if (priced === undefined && refusesWithoutPrice(principal)) throw unpriced(target);
  const bound = priced === undefined ? ZERO_USAGE : boundOf(priced);
  const cost = priced === undefined ? undefined : computeCost(bound, priced);
  if (cost?.detail.price_source === UNPRICED && refusesWithoutPrice(principal)) throw unpriced(target);
  const asked = { ...input, request: { model: target.model, stream: true } };
  const admit = admitPlan(asked, {
    model: job.model,
    target,
    hold: {
      holdNanoUsd: cost?.costNanoUsd ?? 0,
      inputNanoUsd: priced === undefined ? 0 : costOfSide(bound, 'input', priced),
      tokens: promptTokens(bound) + completionTokens(bound),
    },
  });
  return { admit, priced, bound };
}

function checkOther({ key }: Principal, { provider, model }: Target): void {
  if (!isModelAllowed(key, [model, `${provider}/${model}`])) throw notAllowed(model);
  refuseProvider(key, provider);
}

/** What nobody can read can't be guarded. */
function checkGuardrails({ principal, ctx }: Input): void {
  const guardrails = chosenGuardrails(principal.guardrails, ctx.controls.guardrail);
  if (guardrails?.acts !== true) return;
  const [rule] = guardrails.rules.filter(({ action, isShadow }) => action !== 'flag' && !isShadow);
  const message =
    `The guardrails of this project (such as "${rule?.name}") can't judge sessions of speech. ` +
    'Use another endpoint, or ask the operator for a project without them.';
  throw new GatewayError('guardrail_blocked', message, { param: rule?.name });
}

/** Prices of which a model has one. */
const PRICED_BY = {
  realtime: ['output_audio'],
  bidi: ['output_audio'],
  live: ['session_second'],
  translation: ['minute', 'second'],
} as const satisfies Record<RealtimeProtocol, readonly string[]>;
const HEARD_BY = ['minute', 'second', 'input_audio', 'input'] as const;

function isPriced(priced: PricedModel | undefined, { protocol, isTranscription }: RealtimeJob): boolean {
  if (priced === undefined) return false;
  return (isTranscription ? HEARD_BY : PRICED_BY[protocol]).some((name) => priced.prices[name] !== undefined);
}

/** As for other endpoints but text: what has no price would be free, with or without a cap. */
function refusesWithoutPrice({ project }: Principal): boolean {
  return project.strictCaps || project.unknownModelPolicy !== 'allow_unpriced';
}

function refusal({ alias, targets }: Route, { isTranscription, protocol }: RealtimeJob, reason: string | undefined) {
  const [target] = targets;
  if (reason === 'unpriced') {
    return unpriced(target, isTranscription ? HEARD_BY : PRICED_BY[protocol]);
  }
  const name = shownName(alias ?? target.model);
  const message = `"${name}" has no sessions of this kind. Name a realtime model.`;
  const kind = target.priced === undefined ? 'model_not_found' : 'invalid_request';
  return new GatewayError(kind, message, { param: 'model' });
}

function unpriced({ provider, model }: Target, prices: readonly string[] = []): GatewayError {
  const names = prices.length === 0 ? '' : ` (${prices.join(' or ')})`;
  const message =
    `The model "${provider}/${model}" has no price for sessions${names}. The operator can set one ` +
    '(PUT /admin/v1/models) or, without strict caps, the policy "allow_unpriced".';
  return new GatewayError('model_not_priced', message, { param: 'model' });
}
