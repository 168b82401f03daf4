// Without the hot store, sessions are refused as chat is. A session that nobody can open costs nothing.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { atLimit, drained } from '@llm0/core/errors/unasked-provider';
import type { DialectName, LogAttempt } from '@llm0/core/logs/log-record';
import { attemptTimeoutMs } from '@llm0/core/routing/attempt-plan';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import { openRealtime, type RealtimePart, type RealtimeProtocol } from '@llm0/providers/transport/call-realtime';
import type { ErrorEnvelope } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { handleRefusal, type Progress } from '../handle-refusal';
import type { Admission } from '../request/admit';
import { admitInTurn } from '../request/admit-in-turn';
import { type Authenticated, authenticate, type ChosenKey, latestPrincipal } from '../request/authenticate';
import { openContext, type RequestContext } from '../request/open-context';
import { finalFailure } from '../upstream/final-failure';
import { REALTIME, type RealtimePlan } from './plan-realtime';
import { SessionMeter } from './session-meter';
import { SessionSpending, withOwnTrace } from './session-spending';

/** Who asks for a session. */
export interface SessionCaller {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly underWay: UnderWay;
}

export interface SessionAsk {
  readonly httpRequest: Pick<Request, 'headers' | 'signal'>;
  readonly protocol: RealtimeProtocol;
  readonly dialect: DialectName;
  readonly envelope: ErrorEnvelope;
  readonly model: string;
  readonly isTranscription: boolean;
}

/** A session that is there at both ends, once its caller's is. */
export interface OpenedSession {
  readonly spending: SessionSpending;
  readonly meter: SessionMeter;
  readonly part: RealtimePart;
  /** Paused. */
  readonly upstream: Bun.WebSocket;
  readonly slots: TakenSlots | undefined;
  readonly underWay: UnderWay;
}

/** Headers of the caller that vendors look at. */
const FORWARDED = ['openai-beta', 'openai-safety-identifier'];

/** A caller with a valid key, which has no session yet. A refusal is an ordinary answer. */
export async function meetCaller(
  services: Services,
  ask: Pick<SessionAsk, 'httpRequest' | 'dialect' | 'envelope'>,
  chosen?: ChosenKey,
): Promise<SessionCaller | Response> {
  const underWay = services.openRequests.enter();
  const progress: Progress = { stream: true };
  try {
    const ctx = withOwnTrace(openContext(services, ask.httpRequest as Request, { held: underWay.held }));
    progress.ctx = ctx;
    const known = await authenticate(services, ask.httpRequest, chosen);
    progress.principal = known;
    const principal = await latestPrincipal(services, known);
    ctx.held.key = principal.key.id;
    return { ctx, principal, underWay };
  } catch (cause) {
    underWay.end();
    return handleRefusal(services, { dialect: ask.dialect, envelope: ask.envelope, progress, cause });
  }
}

/** Admits a session and opens it at the first provider that has one. A refusal is an ordinary answer with its row. */
export async function openSession(
  services: Services,
  caller: SessionCaller,
  ask: SessionAsk,
): Promise<OpenedSession | Response> {
  const { ctx, principal, underWay } = caller;
  const { dialect, envelope, model, protocol, isTranscription, httpRequest } = ask;
  const progress: Progress = { ctx, principal, requestedModel: model, stream: true };
  try {
    const request = { model, protocol, isTranscription };
    const admission = await admitInTurn(services, { ctx, principal, dialect, request, httpRequest }, REALTIME);
    progress.principal = admission.principal;
    const [first] = targetsOf(admission);
    const meter = new SessionMeter(services, {
      ...{ ctx, dialect, admission, target: first, estimate: () => undefined, isSession: true },
    });
    progress.meter = meter;
    const opening = new Opening(services, ask, { admission, startMs: ctx.startMs });
    const { target, part, upstream, slots } = await opening.run();
    meter.answeredBy(target, opening.attempts);
    meter.markBegin();
    const facts = { ctx, dialect, envelope, protocol, isTranscription, model, target };
    const spending = new SessionSpending(services, facts, admission.principal);
    return { spending, meter, part, upstream, slots, underWay };
  } catch (cause) {
    underWay.end();
    return handleRefusal(services, { dialect, envelope, progress, cause });
  }
}

type SessionAdmission = Admission<RealtimePlan, never>;

const targetsOf = ({ plan }: SessionAdmission): readonly [RouteTarget, ...RouteTarget[]] => {
  if (plan.route === undefined) throw new Error('a session has a route');
  return plan.route.targets;
};

interface OpenedTarget {
  readonly target: RouteTarget;
  readonly part: RealtimePart;
  readonly upstream: Bun.WebSocket;
  readonly slots: TakenSlots | undefined;
}

/** Tries the targets in order. */
class Opening {
  readonly attempts: LogAttempt[] = [];

  constructor(
    private readonly services: Services,
    private readonly ask: SessionAsk,
    private readonly session: { readonly admission: SessionAdmission; readonly startMs: number },
  ) {}

  async run(): Promise<OpenedTarget> {
    const targets = targetsOf(this.session.admission);
    const [requested] = targets;
    let last: GatewayError | undefined;
    for (const target of targets) {
      const startedMs = this.services.clock.monotonicMs();
      try {
        const opened = await this.open(target);
        this.note(target, 'ok', startedMs);
        return opened;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        last = error;
        this.note(target, error.failure ?? 'connection', startedMs);
      }
    }
    const failure = last ?? new GatewayError('upstream_error', 'No provider opened a session.');
    throw finalFailure(failure, { attempts: this.attempts, soonestRetryMs: Number.POSITIVE_INFINITY, requested });
  }

  private async open(target: RouteTarget): Promise<OpenedTarget> {
    const { services, ask } = this;
    const { admission } = this.session;
    if (target.isDrained === true) throw drained(target);
    const connected = services.connect(target, admission.principal.project.id);
    const part = connected?.provider.realtime?.[ask.protocol];
    if (connected === undefined || part === undefined) {
      throw new GatewayError('upstream_error', `The provider "${target.provider}" is not configured any more.`);
    }
    const slots = connected.takeSlots?.();
    if (slots === 'full') throw atLimit(target);
    const headers = FORWARDED.flatMap((name) => {
      const value = ask.httpRequest.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    try {
      const upstream = await openRealtime({
        ...{ provider: target.provider, model: target.model, isTranscription: ask.isTranscription, part },
        ...{ connection: connected.connection, keys: connected.keys, pin: connected.pin, slots },
        headers: Object.fromEntries(headers),
        timeoutMs: attemptTimeoutMs(target.timeouts, services.config, { isPlain: false }),
      });
      return { target, part, upstream, slots };
    } catch (error) {
      slots?.end();
      throw error;
    }
  }

  private note({ provider, model }: RouteTarget, outcome: string, startedMs: number): void {
    const nowMs = this.services.clock.monotonicMs();
    const startMs = startedMs - this.session.startMs;
    this.attempts.push({ provider, model, outcome, startMs, latencyMs: nowMs - startedMs });
  }
}
