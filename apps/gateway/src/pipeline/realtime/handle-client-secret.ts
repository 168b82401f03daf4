// A vendor's own secret would open sessions that nobody meters: callers get secrets of the gateway.
import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { createSessionSecret } from '@llm0/core/realtime/realtime-secrets';
import type { ErrorEnvelope } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { handleRefusal, type Progress } from '../handle-refusal';
import { admitPlanned } from '../request/admit';
import { authenticate } from '../request/authenticate';
import { openContext } from '../request/open-context';
import { readRequestBody } from '../request/read-request';
import { REALTIME } from './plan-realtime';
import { SessionMeter } from './session-meter';

const DIALECT = 'openai-realtime';
const SECONDS = { least: 10, usual: 600, most: 7200 };
const MOST_CHARACTERS = 256 * 1024;

/** Sessions that a secret opens, and how refusals look. */
interface SecretKind {
  readonly envelope: ErrorEnvelope;
  readonly protocol: 'realtime' | 'translation';
}

/** `POST …/client_secrets`: a secret that opens sessions at this gateway, under the limits of the key. */
export async function handleClientSecret(
  services: Services,
  { envelope, protocol }: SecretKind,
  httpRequest: Request,
): Promise<Response> {
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  try {
    const ctx = openContext(services, httpRequest, underWay);
    progress.ctx = ctx;
    const principal = await authenticate(services, httpRequest);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const { body } = await readRequestBody(services, httpRequest, underWay);
    const { model, seconds, session, isTranscription } = readAsked(body, protocol);
    progress.requestedModel = model;
    const named = new URL(httpRequest.url).searchParams.get('model');
    if (named !== null && named !== model) {
      throw invalidRequest('model', 'The "model" of the address must be the one of "session.model".');
    }
    const request = { model, protocol, isTranscription };
    const admission = await admitPlanned(services, { ctx, principal, dialect: DIALECT, request }, REALTIME);
    progress.principal = admission.principal;
    const target = admission.plan.route?.targets[0] ?? { provider: '', model };
    const meter = new SessionMeter(services, {
      ...{ ctx, dialect: DIALECT, admission, target, estimate: () => undefined },
    });
    progress.meter = meter;
    const value = createSessionSecret();
    const { model: _model, ...settings } = session;
    const grant = { apiKeyId: principal.key.id, model, session: settings, headers: labelHeaders(httpRequest.headers) };
    const expires_at = await keepSecret(services, hashSecret(value), grant, seconds);
    meter.complete(ZERO_USAGE);
    await meter.handedOver;
    const id = `sess_${ctx.requestId}`;
    const shown = {
      realtime: { ...session, client_secret: null },
      translation: { id, audio: {}, ...session, expires_at, type: 'translation' },
    };
    return Response.json(
      { value, expires_at, session: shown[protocol] },
      { headers: { 'X-Request-Id': ctx.requestId } },
    );
  } catch (cause) {
    return await handleRefusal(services, { dialect: DIALECT, envelope, progress, cause });
  } finally {
    underWay.end();
  }
}

async function keepSecret(
  { realtimeSecrets }: Pick<Services, 'realtimeSecrets'>,
  ...kept: Parameters<Services['realtimeSecrets']['keep']>
): Promise<number> {
  try {
    return await realtimeSecrets.keep(...kept);
  } catch (cause) {
    const message = 'No secret can be made while the database is unreachable. Retry shortly.';
    throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
  }
}

function readAsked(body: JsonObject, protocol: SecretKind['protocol']) {
  const session = body.session ?? {};
  if (!isObject(session)) throw invalidRequest('session', '"session" must be an object.');
  if (JSON.stringify(session).length > MOST_CHARACTERS) {
    throw invalidRequest('session', `"session" must have at most ${MOST_CHARACTERS} characters.`);
  }
  const isTranscription = protocol === 'realtime' && session.type === 'transcription';
  const model = isTranscription ? (session.model ?? transcriptionModel(session)) : session.model;
  if (typeof model !== 'string' || model === '') {
    throw invalidRequest('session.model', 'Name the model in "session.model".');
  }
  return { model, session, isTranscription, seconds: readSeconds(body.expires_after ?? {}) };
}

function transcriptionModel({ audio }: JsonObject) {
  const input = isObject(audio) && isObject(audio.input) ? audio.input : {};
  return isObject(input.transcription) ? input.transcription.model : undefined;
}

function readSeconds(after: unknown): number {
  const { seconds = SECONDS.usual } = after as { seconds?: unknown };
  const { least, most } = SECONDS;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= least && seconds <= most) return seconds;
  throw invalidRequest('expires_after.seconds', `"expires_after.seconds" must be an integer from ${least} to ${most}.`);
}

/** What the session's requests are booked on. */
function labelHeaders(headers: Headers): Readonly<Record<string, string>> {
  const isKept = (name: string) => name === 'x-customer-id' || name.startsWith('x-llm0-');
  return Object.fromEntries([...headers].filter(([name]) => isKept(name)));
}
