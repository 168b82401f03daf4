// Without the hot store, passthrough fails as chat does. The answer passes byte by byte; its cost is read from a copy.

import { joinInSlices } from '@llm0/core/chat/write-json-in-slices';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { attemptTimeoutMs, connectTimeoutMs, type Timeouts } from '@llm0/core/routing/attempt-plan';
import { applyMode } from '@llm0/core/routing/failover-mode';
import { noteHttp } from '@llm0/core/tracing/request-trace';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import {
  callPassthrough,
  hashInSlices,
  nativeUrl,
  type PassthroughProvider,
  passesThrough,
} from '@llm0/providers/transport/call-passthrough';
import type { ConnectedProvider, Services, UnderWay, WatchedCall } from '../../services/contract';
import { type GuardedRequest, isGuarded, isSame } from '../guard/guard-input';
import { guardNative, type NativeRequest } from '../guard/guard-native';
import { handleRefusal, type Progress } from '../handle-refusal';
import { givenBodies } from '../metering/logged-bodies';
import { admitInTurn } from '../request/admit-in-turn';
import { type Authenticated, authenticate, refreshPrincipal } from '../request/authenticate';
import { forwardedRequestHeaders } from '../request/forwarded-headers';
import type { NativeBody } from '../request/native-body';
import { openContext, type RequestContext } from '../request/open-context';
import { finalFailure } from '../upstream/final-failure';
import { allowNative, findShape, refuseStoredParts } from './allow-native';
import type { Entrance } from './entrances';
import { NativeMeter } from './native-meter';
import { type NativeJob, PASSTHROUGH } from './plan-passthrough';
import { describeNative, type NativeTarget, readBody } from './read-native';
import { type NativeResponse, respondNative } from './respond-native';
import { askForUsage, showUsage } from './show-usage';
import { takePlace } from './take-place';

const DIALECT = 'passthrough';

/** A vendor's native API under this gateway's keys, limits and log: its own path, or one that names a model. */
export async function handlePassthrough(
  services: Services,
  entrance: Entrance,
  httpRequest: Request,
): Promise<Response> {
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  try {
    const ctx = noteHttp(openContext(services, httpRequest, underWay), httpRequest);
    progress.ctx = ctx;
    let principal = await authenticate(services, entrance.credentials?.(httpRequest) ?? httpRequest);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const found = await findFresh(services, principal, (known) =>
      findAsked(services, { entrance, httpRequest }, known),
    );
    const { target, shown, isInference, connected, provider, connection } = found;
    const read = await readGiven(services, httpRequest, { provider, connection, isInference, underWay });
    const { path, query } = target.native;
    const native = { given: read, path, isKnown: isInference, query, headers: httpRequest.headers };
    const guarding = isGuarded(ctx, principal)
      ? await guardNative(services, { ctx, principal, request: native, progress })
      : undefined;
    if (guarding !== undefined) principal = guarding.principal;
    const given = guarding?.request.given ?? read;
    const asked = describeNative(httpRequest, { ...target, provider }, given);
    const { body, job } = await askForUsage(asked, given);
    progress.requestedModel = job.model;
    refuseStoredParts(job);
    progress.stream = job.stream;
    const input = { ctx, principal, dialect: DIALECT, request: job, httpRequest } as const;
    const admission = await admitInTurn(services, input, PASSTHROUGH);
    progress.principal = admission.principal;
    const meter = new NativeMeter(services, { ctx, dialect: DIALECT, admission, job });
    progress.meter = meter;
    const guarded = isSame(guarding, admission)
      ? guarding
      : await guardNative(services, {
          ...{ ctx, principal: admission.principal, progress },
          request: { ...native, given: body },
        });
    meter.guard = guarded?.guard;
    const sent = guarded === guarding ? body : (guarded?.request.given ?? body);
    services.bodyLog.keep(() => givenBodies({ ctx, admission }, job.body));
    const used = takePlace(services, { held: ctx.held, connected, connection, job });
    meter.noteSent();
    const asking = { ...found, connection: used, principal, body: sent, guarded, httpRequest, ctx, job };
    const answering = { admission, meter, underWay, dropsUsage: body !== given, dropped: shown.dropped };
    return await answerNative(services, asking, answering);
  } catch (cause) {
    underWay.end();
    const envelope = entrance.envelope(services, httpRequest, progress.principal);
    return await handleRefusal(services, { dialect: DIALECT, envelope, progress, cause });
  }
}

type Answering = Pick<NativeResponse, 'admission' | 'meter' | 'dropsUsage' | 'dropped'> & {
  readonly underWay: UnderWay;
};

/** Asks the vendor and passes the answer on, until the caller leaves or the run is stopped. */
async function answerNative(
  services: Services,
  asking: Omit<Asked, keyof WatchedCall>,
  { underWay, ...answering }: Answering,
): Promise<Response> {
  const { ctx, connected, provider, connection, guarded, httpRequest } = asking;
  const { id: projectId } = answering.admission.principal.project;
  const { signal, unwatch } = services.runs.signalFor({ projectId, runId: ctx.runId, signal: httpRequest.signal });
  const answered = await ask(services, { ...asking, signal, unwatch });
  noteKey(connected, { provider, connection, response: answered.response });
  const onEnd = () => {
    unwatch();
    underWay.end();
  };
  const by = { ctx, provider, connection, httpRequest, signal, onEnd, guard: guarded?.guard };
  return respondNative(services, { ...answering, ...by, ...answered });
}

/** Finds the destination and checks the permission. */
function findAsked(
  services: Services,
  { entrance, httpRequest }: { readonly entrance: Entrance; readonly httpRequest: Request },
  known: Authenticated,
) {
  const found = entrance.findTarget(services, httpRequest, known);
  const reached = reach(services, found, known);
  const asked = { provider: found.provider, method: httpRequest.method, path: found.native.path };
  const shown = showUsage(reached.provider, found.native, httpRequest.headers);
  const url = nativeUrl(reached.provider, reached.connection, shown.native);
  const shape = findShape(reached.provider, asked);
  if (found.isOwn !== true) allowNative(known, { ...asked, shape }, reached.connected);
  return { target: found, shown, url, isInference: shape !== undefined, ...reached };
}

interface GivenRules extends Pick<Reached, 'provider' | 'connection'> {
  readonly isInference: boolean;
  readonly underWay: UnderWay;
}

function readGiven(
  { config }: Pick<Services, 'config'>,
  httpRequest: Request,
  { provider, connection, isInference: isObject, underWay }: GivenRules,
): Promise<NativeBody> {
  const isWhole = provider.passthrough.signsBody(connection);
  return readBody(httpRequest, {
    maxBytes: config.maxBodyBytes,
    isWhole,
    isObject,
    take: (bytes) => underWay.takeBody(bytes),
  });
}

interface Reached {
  readonly connected: ConnectedProvider;
  readonly provider: PassthroughProvider;
  /** With the key this request uses. */
  readonly connection: ProviderConnection;
  readonly timeouts: Timeouts | undefined;
}

/** A missing model or provider may be newer than this process's tables. */
async function findFresh<T>(
  services: Services,
  principal: Authenticated,
  find: (principal: Authenticated) => T,
): Promise<T> {
  try {
    return find(principal);
  } catch (refusal) {
    if (!(refusal instanceof GatewayError)) throw refusal;
    return find(await refreshPrincipal(services, principal, refusal));
  }
}

function reach(services: Services, { provider: name }: NativeTarget, { project }: Authenticated): Reached {
  const tables = services.routing().forProject(project.id);
  const configured = tables.providers.get(name);
  const step = { provider: name, model: '' };
  const connected = configured && services.connect(step, project.id);
  if (configured === undefined || connected === undefined || !passesThrough(connected.provider)) {
    const known = [...tables.providers.keys()].join(', ');
    const message = `There is no provider "${name.slice(0, 60)}" to pass this to. Configured: ${known}.`;
    throw new GatewayError('not_found', message);
  }
  const allowed = applyMode(tables.mode, { steps: [step], isPinned: false, placeOf: () => configured.place });
  if (allowed.length === 0) {
    throw new GatewayError('permission_denied', `FAILOVER_MODE=${tables.mode} allows no call to "${name}".`);
  }
  const connection = connected.keys?.next(new Set()) ?? connected.connection;
  connected.keys?.check(connection, name);
  if (connected.keys !== undefined && connection === connected.connection && connection.apiKey === undefined) {
    throw connected.keys.exhausted(name, undefined);
  }
  return { connected, provider: connected.provider, connection, timeouts: configured.timeouts };
}

/** Callers share the vendor's account: one's key must never bring another's answer. */
function asVendorSees(idempotencyKey: string, { key }: Authenticated): string {
  return Bun.CryptoHasher.hash('sha256', `${key.id} ${idempotencyKey}`, 'hex');
}

interface Asked extends Reached, WatchedCall {
  readonly principal: Authenticated;
  readonly url: URL;
  readonly body: NativeBody;
  /** Judged request with its headers. */
  readonly guarded: GuardedRequest<NativeRequest> | undefined;
  readonly httpRequest: Request;
  readonly ctx: RequestContext;
  readonly job: Pick<NativeJob, 'namedModel' | 'stream'>;
  readonly isInference: boolean;
}

type Answered = Pick<NativeResponse, 'response' | 'waitMs' | 'leftMs'>;

/** The answer's headers, how long they took, and how long the rest may take. */
async function ask(services: Services, asked: Asked): Promise<Answered> {
  const { ctx, job, timeouts, provider } = asked;
  const startMs = services.clock.monotonicMs();
  const timed = { isPlain: !job.stream, atMostMs: ctx.controls.timeoutMs };
  const timeoutMs = attemptTimeoutMs(timeouts, services.config, timed);
  try {
    const response = await send(services, asked, timeoutMs);
    const waitMs = services.clock.monotonicMs() - startMs;
    return {
      response,
      waitMs,
      leftMs: asked.isInference && timed.isPlain ? Math.max(1, timeoutMs - waitMs) : undefined,
    };
  } catch (cause) {
    asked.unwatch();
    if (!(cause instanceof GatewayError)) throw cause;
    const requested = { provider: provider.name, model: job.namedModel ?? '' };
    throw finalFailure(cause, { attempts: [], soonestRetryMs: Number.POSITIVE_INFINITY, requested });
  }
}

async function send(services: Services, asked: Asked, timeoutMs: number): Promise<Response> {
  const { connected, provider, connection, principal, url, body, guarded, httpRequest, ctx, timeouts } = asked;
  const { method } = httpRequest;
  const own: Record<string, string> = {
    ...forwardedRequestHeaders(guarded?.request.headers ?? httpRequest.headers),
    'accept-encoding': 'identity',
  };
  const { 'idempotency-key': idempotencyKey } = own;
  if (idempotencyKey !== undefined) own['idempotency-key'] = asVendorSees(idempotencyKey, principal);
  if (body.length !== undefined) own['content-length'] = String(body.length);
  if (body.isJson === true) {
    own['content-type'] = 'application/json';
    delete own['content-encoding'];
  }
  const { passthrough } = provider;
  const { pieces } = body;
  const isHashed = pieces !== undefined && passthrough.signsBody(connection);
  const unsigned = { method, url, headers: own, body: isHashed ? { hash: await hashInSlices(pieces) } : body.bytes };
  const headers = { ...own, ...passthrough.authorize(unsigned, connection), ...ctx.trace?.headersFrom(1) };
  return callPassthrough({
    provider,
    request: { ...unsigned, headers, body: pieces === undefined ? body.bytes : await joinInSlices(pieces) },
    stream: body.stream,
    ...{ timeoutMs, connectTimeoutMs: connectTimeoutMs(timeouts, services.config) },
    signal: asked.signal,
    fetch: connected.fetch ?? services.fetch,
  });
}

/** The next request asks another key, or with another secret, where the vendor refused this one. */
function noteKey(
  { keys }: ConnectedProvider,
  asked: Pick<Reached, 'provider' | 'connection'> & { readonly response: Response },
): void {
  const { provider, connection, response } = asked;
  if (keys === undefined) return;
  if (response.ok) keys.accepted(connection);
  else {
    const error = provider.decodeError(response.status, response.headers, '');
    if (keys.refused(connection, error) && error.failure === 'auth') void keys.renew(connection);
  }
}
