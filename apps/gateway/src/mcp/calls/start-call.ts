// An unsendable call fails before any charge. Every sent call is settled, however it ends.
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { allowedToolsOf, type Principal } from '@llm0/core/keys/api-key';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import { admitInRun } from '../../pipeline/request/admit-run';
import type { Authenticated } from '../../pipeline/request/authenticate';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';
import type { ServerEntry } from '../servers/server-entry';
import type { RegistryView } from '../servers/server-registry';
import type { UpstreamAnswer, UpstreamAsk } from '../upstream/upstream';
import { type CallAdmission, CallBooking } from './call-booking';
import { checkWhole, findServer, mayCall, unknown } from './find-tool';
import { guardCall } from './guard-call';
import { withMessageTrace } from './message-trace';
import { CALLS, callJob } from './plan-call';

/** A request that goes to a server, and counts. */
export interface CallStart {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly registry: RegistryView;
  readonly entry: ServerEntry;
  /** Tool or method in limits and log. */
  readonly tool: string;
  readonly runId: string;
  readonly bytesIn: number;
  /** Charged by the call; everything else is free. */
  readonly isPriced: boolean;
  readonly ask: Omit<UpstreamAsk, 'maxBytes' | 'onSent'>;
}

/** A call under way. */
export interface StartedCall {
  readonly answer: UpstreamAnswer;
  readonly booking: CallBooking;
  readonly admission: CallAdmission;
  readonly params: JsonObject;
}

/** Bytes of one answer. */
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/** Admits and sends the call. `onAdmitted` receives the booking, which every path has settled by then. */
export async function startCall(
  services: Services,
  { ctx, principal, registry, entry, tool, runId, bytesIn, isPriced, ask }: CallStart,
  onAdmitted: (booking: CallBooking, admission: CallAdmission) => void,
): Promise<StartedCall> {
  const { alias } = entry.server;
  let live = entry;
  const job = callJob({
    ...{ alias, tool, runId, bytesIn },
    server: (caller) => {
      live = stillCallable(registry, { alias, tool, isPriced }, caller);
      const { server } = live;
      return isPriced ? server : { id: server.id, alias: server.alias, pricePerCallNanoUsd: 0 };
    },
  });
  const input = { ctx, principal, dialect: 'passthrough', request: job } as const;
  const admission = await admitInRun(services, input, CALLS);
  const booking = new CallBooking(services, { ctx, admission, job, params: ask.params });
  onAdmitted(booking, admission);
  const at = { projectId: admission.principal.project.id, runId, signal: ask.signal };
  const { signal, unwatch } = services.runs.signalFor(at);
  booking.onEnd = unwatch;
  try {
    if (ask.signal.aborted) throw new GatewayError('client_closed', 'The caller closed the connection.');
    const guarded = await guardCall(services, { ctx, admission, booking, ask });
    // Negotiates first, which runs nothing.
    await live.upstream.facts();
    const maxBytes = Math.min(services.config.maxResponseBytes, MAX_ANSWER_BYTES);
    const onSent = (isSent: boolean) => booking.noteSent(isSent);
    const params = withMessageTrace(guarded.ask.params, ctx.trace);
    const sent = { ...guarded.ask, params, maxBytes, onSent, room: ctx.held, signal };
    const answer = guarded.judge(await live.upstream.ask(sent));
    return { answer, booking, admission, params: ask.params };
  } catch (cause) {
    booking.fail(
      cause instanceof GatewayError
        ? cause
        : new GatewayError('internal', 'The gateway failed unexpectedly.', { cause }),
    );
    throw cause;
  }
}

/** Access may have changed since the request; the decision knows. */
function stillCallable(
  registry: RegistryView,
  { alias, tool, isPriced }: { readonly alias: string; readonly tool: string; readonly isPriced: boolean },
  caller: Principal,
): ServerEntry {
  const naming = { registry, patterns: allowedToolsOf(caller), scope: alias };
  const entry = findServer(naming, alias);
  if (isPriced && !mayCall(naming, entry, tool)) throw unknown(joinToolName(alias, tool), 'tool');
  if (!isPriced) checkWhole(naming, entry, tool);
  return entry;
}
