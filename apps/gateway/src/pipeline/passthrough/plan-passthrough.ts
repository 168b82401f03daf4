import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { drained } from '@llm0/core/errors/unasked-provider';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { coversClasses, TEXT_CLASSES, VECTOR_CLASSES } from '@llm0/core/pricing/class-prices';
import { estimateHold, type HoldEstimate, NO_WEIGHT } from '@llm0/core/pricing/estimate-cost';
import type { PriceBook, PricedModel } from '@llm0/core/pricing/price-book';
import { notAllowed } from '@llm0/core/routing/named-targets';
import { countReferences, hasVendorTools, type NativeShape } from '@llm0/providers/transport/call-passthrough';
import type { Services } from '../../services/contract';
import type { AdmitInput, Planner } from '../request/admit';
import { type CostlyPlan, checkCostly } from '../request/check-costly';
import {
  admitPlan,
  choosesModels,
  isModelAllowed,
  NO_HOLD,
  refuseProvider,
  refusesUnpriced,
} from '../request/prepared-route';
import { allowNative } from './allow-native';

/** A parsed native request. */
export interface NativeJob {
  /** The requested model; else the path. */
  readonly model: string;
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  /** Always enabled. */
  readonly isOwn?: true;
  readonly stream: boolean;
  /** Set where the request names a model. */
  readonly namedModel?: string;
  /** Set for endpoints with a computable cost. */
  readonly shape?: NativeShape;
  /** Set where the body is JSON and was read. */
  readonly body?: JsonObject;
  readonly bodyBytes: number;
  /** The body's. */
  readonly format: WireFormat;
}

export interface NativePlan extends Partial<CostlyPlan> {
  readonly admit: AdmitPlan;
  readonly hold: HoldEstimate;
  /** See `RequestPlan`. */
  readonly prices: PriceBook;
  readonly priced: PricedModel | undefined;
  /** The answer's cost is unknown: booked as nothing, and marked. */
  readonly isUnpriced: boolean;
}

/** Plans native requests for the decision. */
export const PASSTHROUGH: Planner<NativeJob, NativePlan, never> = {
  plan: planNative,
  withModel: () => {
    const message = "This customer reached its spend limit. A native request can't be downgraded.";
    throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
  },
  decodeStored: () => undefined,
};

/** Name of a native request without a model, in rows and limits. */
export const UNNAMED_MODEL = 'passthrough';
const FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** Prices a native request; throws for violations of key or project limits. Touches no store. */
function planNative(services: Pick<Services, 'routing' | 'connect'>, input: AdmitInput<NativeJob>): NativePlan {
  const { principal, request: job } = input;
  const { key, project } = principal;
  const { provider, namedModel } = job;
  const connected = services.connect({ provider, model: '' }, project.id);
  if (job.isOwn !== true) allowNative(principal, job, connected);
  refuseProvider(key, provider);
  if (choosesModels(key)) {
    const names = namedModel === undefined ? [] : [job.model, namedModel, `${provider}/${namedModel}`];
    if (!isModelAllowed(key, names)) throw notAllowed(namedModel ?? job.path);
  }
  const tables = services.routing().forProject(project.id);
  const configured = tables.providers.get(provider);
  if (configured?.isDrained === true) throw drained({ provider, model: namedModel ?? UNNAMED_MODEL });
  const isFree = FREE_METHODS.has(job.method) || job.shape?.isFree === true;
  const isLocal = configured?.place === 'local';
  const priced = namedModel === undefined ? undefined : tables.prices.find(provider, namedModel);
  // An answer without usage is booked at the whole hold, which needs a parsed body.
  const isUnpriced = !isFree && !isLocal && (priced === undefined || job.shape === undefined || job.body === undefined);
  const isTold = job.body === undefined || job.shape?.tellsCost(job.body) !== false;
  const isCovered = coversClasses(priced, job.shape?.isInputOnly === true ? VECTOR_CLASSES : TEXT_CLASSES);
  const isBilled = isFree || isLocal || (isTold && isCovered);
  if ((isUnpriced || !isBilled) && refusesUnpriced(principal)) throw unpriced(job);
  if (project.strictCaps && !isFree && !isLocal) checkBounded(job);
  const { body, format } = job;
  const target = { provider, model: namedModel ?? UNNAMED_MODEL };
  const wire = body === undefined || isFree ? undefined : { format, body: withNames(body) };
  const costly = checkCostly(principal, { wire, targets: [{ ...target, priced }] }, tables.prices);
  const candidates = [...(priced === undefined ? [] : [priced]), ...(costly.others ?? [])];
  const hold =
    isFree || priced === undefined ? NO_HOLD : holdFor(job, { candidates, project, serviceTier: costly.tier });
  const asked = { ...input, request: { model: job.model, stream: job.stream } };
  const admit = admitPlan(asked, { hold, model: target.model, target });
  return { priced, isUnpriced, ...costly, admit, hold, prices: tables.prices };
}

interface HoldTerms {
  readonly candidates: readonly PricedModel[];
  readonly project: { readonly strictCaps: boolean; readonly defaultOutputTokens: number };
  readonly serviceTier: string | undefined;
}

/** If the path names the model, the body's `model` counts as another one. */
const withNames = ({ model, ...body }: JsonObject): JsonObject =>
  typeof model === 'string' ? { ...body, models: [model, body.models ?? null] } : body;

function holdFor({ shape, body, bodyBytes }: NativeJob, { candidates, project, serviceTier }: HoldTerms): HoldEstimate {
  const images = body === undefined ? 0 : countReferences(body);
  const weight = { ...NO_WEIGHT, textBytes: bodyBytes, messages: 1, images };
  const limit = body === undefined ? undefined : shape?.outputLimit(body);
  const request: Pick<ChatRequest, 'maxOutputTokens' | 'serviceTier' | 'extra'> = {
    maxOutputTokens: shape?.isInputOnly === true ? 0 : limit,
    serviceTier,
    extra: {},
  };
  const { strictCaps: strict, defaultOutputTokens } = project;
  return estimateHold({ model: '', messages: [], stream: false, ...request }, weight, candidates, {
    ...{ strict, defaultOutputTokens },
  });
}

/** An absolute cap refuses requests without a bound on their cost; the request itself never changes. */
function checkBounded({ shape, body, stream }: NativeJob): void {
  if (shape === undefined || body === undefined) throw unbounded('its format is not known');
  const odd = Object.keys(body).find((name) => !shape.boundedFields.has(name));
  if (odd !== undefined) throw unbounded(`what "${odd.slice(0, 80)}" costs has no bound`);
  if (countReferences(body) > 0) throw unbounded('media and references have no bound');
  if (hasVendorTools(body)) throw unbounded('tools that the vendor runs have no bound');
  if (shape.outputLimit(body) === undefined) throw unbounded('it sets no limit for its output');
  if (stream && !shape.tellsCost(body)) throw unbounded('it does not ask for usage (stream_options.include_usage)');
}

function unbounded(why: string): GatewayError {
  const message = `This project has strict caps, and this native request cannot be bounded: ${why}.`;
  return new GatewayError('request_over_limit', message);
}

function unpriced({ provider, namedModel, method, path }: NativeJob): GatewayError {
  const what = namedModel === undefined ? `${method} ${path.slice(0, 120)}` : `"${provider}/${namedModel}" there`;
  return new GatewayError(
    'model_not_priced',
    `What ${what} costs is not known, and this project refuses what has no price. The operator can set a price ` +
      '(PUT /admin/v1/models) or, without strict caps, the policy "allow_unpriced".',
    { param: 'model' },
  );
}
