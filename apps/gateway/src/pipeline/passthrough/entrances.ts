import type { WireFormat } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { shownName } from '@llm0/core/routing/near-names';
import { resolveTargets } from '@llm0/core/routing/resolve-targets';
import type { ErrorEnvelope } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { Authenticated } from '../request/authenticate';
import { type NativeTarget, ownQuery, providerName, readTarget } from './read-native';

type Needs = Pick<Services, 'routing' | 'connect'>;

/** Entrance of native requests: finds the vendor and encodes its errors. */
export interface Entrance {
  /** Throws for an unknown target. */
  findTarget(services: Needs, request: Request, principal: Authenticated): NativeTarget;
  envelope(services: Needs, request: Request, principal: Authenticated | undefined): ErrorEnvelope;
  /** Key of the caller outside of headers. */
  credentials?(request: Request): Pick<Request, 'headers'>;
}

/** Error envelope of each provider's clients. */
export type Envelopes = Readonly<Record<WireFormat, ErrorEnvelope>>;

/** `/passthrough/{provider}/…`. For an unknown vendor, errors use the most common format. */
export const providerEntrance = (envelopes: Envelopes): Entrance => ({
  findTarget: (_services, request) => readTarget(request),
  envelope: (services, request, principal) => {
    const target = { provider: providerName(request), model: '' };
    return envelopes[services.connect(target, principal?.project.id)?.provider.wireFormat ?? 'openai-chat'];
  },
});

const MODEL_CALL = /^(?<root>\/[^/]+\/)models\/(?<model>[^:]+):(?<method>\w+)$/;

/**
 * `/{version}/models/{model}:{method}` at the root: the model's vendor if it speaks this format. It only offers
 * inference, so every key may use it.
 */
export const modelEntrance = (format: WireFormat, envelopes: Envelopes): Entrance => ({
  findTarget: (services, request, principal) => findByModel(services, { request, principal, format }),
  envelope: () => envelopes[format],
  credentials: keyInQuery,
});

interface ModelCall {
  readonly request: Request;
  readonly principal: Authenticated;
  readonly format: WireFormat;
}

function findByModel(services: Needs, { request, principal, format }: ModelCall): NativeTarget {
  const url = new URL(request.url);
  const { root = '/', model = '', method = '' } = MODEL_CALL.exec(url.pathname)?.groups ?? {};
  const asked = decodeModel(model);
  const projectId = principal.project.id;
  const { requested } = resolveTargets(asked, services.routing(), projectId);
  const provider = services.connect(requested, projectId)?.provider;
  if (provider?.wireFormat !== format) {
    const message = `"${shownName(asked)}" doesn't support this API. Call it at /v1/chat/completions, /v1/messages or /v1/responses.`;
    throw new GatewayError('invalid_request', message, { param: 'model' });
  }
  const path = `${root}models/${encodeURIComponent(requested.model)}:${method}`;
  if (provider.passthrough?.shapes.some((shape) => shape.path.test(path)) !== true) {
    throw new GatewayError('not_found', `There is no "${method.slice(0, 60)}" for models here.`);
  }
  return { provider: requested.provider, native: { path, query: ownQuery(url) }, askedModel: asked, isOwn: true };
}

function decodeModel(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GatewayError('invalid_request', 'The name of the model in this path cannot be read.', { param: 'model' });
  }
}

/** Clients of such APIs may put their key into the URL. */
function keyInQuery(request: Request): Pick<Request, 'headers'> {
  const key = new URL(request.url).searchParams.get('key');
  const isSent = ['authorization', 'x-api-key', 'x-goog-api-key'].some((name) => request.headers.has(name));
  return key === null || isSent ? request : { headers: new Headers({ 'x-goog-api-key': key }) };
}
