import { backendProvider } from '@llm0/core/backends/backend';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import type { CacheAsk, Look } from '@llm0/core/http-cache/http-cache';
import { requestControl } from '@llm0/core/http-cache/use-answer';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { notAllowed } from '@llm0/core/routing/named-targets';
import type { Services } from '../../services/contract';
import type { Planner } from '../request/admit';
import type { Authenticated } from '../request/authenticate';
import type { RequestControls } from '../request/open-context';
import { admitPlan, isModelAllowed, refuseProvider } from '../request/prepared-route';
import { type FieldTable, fieldsIn, requestFields } from './forward-headers';
import { namesCaller } from './names-caller';
import type { InferTarget } from './read-target';

type Backends = Services['backends'];
export type InferBackend = NonNullable<ReturnType<Backends['find']>>;

/** A request to a backend. */
export interface InferJob extends InferTarget {
  /** Requested model of its row. */
  readonly model: string;
}

export interface InferPlan {
  readonly admit: AdmitPlan;
  readonly backend: InferBackend;
  /** Forwarded request headers with the operator's. */
  readonly fields: FieldTable;
  readonly look: Look;
}

export type CacheHit = Extract<Look, { type: 'hit' }>;

export interface InferRequest {
  readonly headers: Headers;
  readonly requestId: string;
  readonly controls: RequestControls;
  /** The shared store's entry, if it was read. */
  readonly shared?: SharedText;
}

export interface SharedText {
  readonly key: string;
  /** undefined = nothing. */
  readonly text: string | undefined;
}

type Needs = Pick<Services, 'backends' | 'config'>;

/** Plans a backend request for the decision. Each round reads the backend again, because it may change. */
export function inferPlanner(services: Needs, request: InferRequest): Planner<InferJob, InferPlan, CacheHit> {
  const { cache } = services.backends;
  let look: Look = { type: 'off' };
  return {
    plan: (_services, input) => {
      const { principal, request: job } = input;
      const backend = findBackend(services, job, principal);
      refuseUnjudged(backend, principal, request.controls);
      const fields = askedFields(request, backend);
      look = lookFor(services, request, { job, backend, principal, fields });
      const { shared } = request;
      if (look.type === 'miss' && shared?.key === look.place.key) look = cache.judgeShared(look, shared.text);
      const name = backendProvider(backend.name);
      const { pricePerRequestNanoUsd: price } = backend;
      if (look.type === 'hit') return { backend, fields, look, admit: hitPlan(name, price) };
      const admit = admitPlan(
        { ...input, request: { model: job.model, stream: false } },
        {
          ...{ model: name, target: { provider: name, model: backend.name } },
          hold: { holdNanoUsd: price, inputNanoUsd: price, tokens: 0 },
          cacheKey: look.type === 'miss' && look.shared === 'now' ? look.place.key : undefined,
        },
      );
      return { backend, fields, look, admit };
    },
    withModel: () => {
      const message = "This customer reached its spend limit. A request to a backend can't be downgraded.";
      throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
    },
    decodeStored: (value) => {
      if (look.type !== 'miss') return look.type === 'hit' ? look : undefined;
      const judged = cache.judge(look.place, cache.adopt(look.place, value));
      return judged.type === 'hit' ? judged : undefined;
    },
  };
}

/** A hit sets no hold: there is nothing of it that could be lost. */
const hitPlan = (model: string, price: number): AdmitPlan => ({
  ...{ model, holdNanoUsd: price, lostNanoUsd: price, tokens: 0 },
  ...{ lostRecord: '', isAnswered: true },
});

/** The shared store's entry for a conditional request; undefined if not needed. */
export async function readShared(
  services: Needs & Pick<Services, 'hotStore'>,
  request: InferRequest,
  { job, principal }: { readonly job: InferJob; readonly principal: Authenticated },
): Promise<SharedText | undefined> {
  if (!services.backends.cache.options.isShared || !request.headers.has('cache-control')) return undefined;
  const backend = services.backends.find(job.backend);
  if (backend === undefined) return undefined;
  const fields = askedFields(request, backend);
  const look = lookFor(services, request, { job, backend, principal, fields });
  if (look.type !== 'miss' || look.shared !== 'first') return undefined;
  const { key } = look.place;
  const [text] = await services.hotStore.cacheRead(principal.project.id, [key]);
  return { key, text };
}

/** Throws `not_found`, or `model_not_allowed` if `allowed_models` or `allowed_providers` lacks `infer:<name>`. */
export function findBackend({ backends }: Needs, { backend: name }: InferTarget, { key }: Authenticated): InferBackend {
  const backend = backends.find(name);
  const entry = backendProvider(name.slice(0, 60));
  if (backend === undefined || !backend.isActive) {
    const shown = `"${name.slice(0, 60)}"`;
    const isThere = backend !== undefined && isModelAllowed(key, [entry]);
    const message = isThere
      ? `The operator switched the backend ${shown} off.`
      : `There is no backend ${shown}. The operator can add it.`;
    throw new GatewayError('not_found', message);
  }
  if (!isModelAllowed(key, [entry])) throw notAllowed(entry);
  refuseProvider(key, entry);
  return backend;
}

/**
 * Guardrails don't judge backends. If they act, a key reaches only backends in its `allowed_models`. Throws
 * `permission_denied`, or `invalid_request` if `X-LLM0-Guardrail` names no rule.
 */
function refuseUnjudged(
  { name }: Pick<InferBackend, 'name'>,
  { key, guardrails }: Authenticated,
  { guardrail }: RequestControls,
): void {
  if (guardrails === undefined && guardrail === undefined) return;
  const entry = backendProvider(name);
  const isNamed = guardrail === undefined && key.allowedModels?.includes(entry) === true;
  if (isNamed || chosenGuardrails(guardrails, guardrail)?.acts !== true) return;
  throw new GatewayError(
    'permission_denied',
    `This project has guardrails, which can't check requests to backends. The operator can name "${entry}" in ` +
      '"allowed_models" of the key.',
  );
}

/** `X-LLM0-Cache: refresh` acts like `no-cache`; requests that forbid storage store nothing. */
function askedFields({ headers, requestId, controls }: InferRequest, backend: InferBackend): FieldTable {
  const fields = requestFields(headers, backend, requestId);
  if (controls.cache === 'refresh') {
    const isKept = !requestControl(fieldsIn(fields)).has('no-store');
    fields['cache-control'] = isKept ? 'no-cache' : 'no-cache, no-store';
  }
  return fields;
}

interface Looking {
  readonly job: InferJob;
  readonly backend: InferBackend;
  readonly principal: Authenticated;
  readonly fields: FieldTable;
}

function lookFor({ backends, config }: Needs, request: InferRequest, looking: Looking): Look {
  const { principal, backend, ...rest } = looking;
  const { project } = principal;
  if (request.controls.cache === 'off' || !backend.cache.enabled || !project.cacheEnabled) return { type: 'off' };
  const isNamed = namesCaller(request.headers, backend);
  return backends.cache.look(cacheAsk(config, { ...rest, backend, projectId: project.id, isNamed }));
}

/** Key of an answer. */
export function cacheAsk(
  { httpCache }: Pick<Services['config'], 'httpCache'>,
  {
    job,
    backend,
    projectId,
    fields,
    isNamed,
  }: Omit<Looking, 'principal'> & { readonly projectId: string; readonly isNamed: boolean },
): CacheAsk {
  const { ttlSeconds } = backend.cache;
  return {
    ...{ projectId, revision: `${backend.name} ${backend.revision}`, provider: backendProvider(backend.name) },
    ...{ method: job.method, target: `${job.path}${job.search}`, fields: fieldsIn(fields) },
    // An answer without cache headers may be private to an identified caller. An operator's setting overrides this.
    defaultTtlMs: ttlSeconds === null ? (isNamed ? 0 : httpCache.ttlMs) : ttlSeconds * 1000,
    alwaysVary: backend.forwardHeaders,
  };
}
