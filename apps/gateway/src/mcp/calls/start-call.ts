// What cannot be sent is refused before anything is charged; what was sent is settled whichever way it ends.
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { admitPlanned } from '../../pipeline/exchange/admit';
import type { Authenticated } from '../../pipeline/exchange/load-principal';
import type { Exchange } from '../../pipeline/exchange/open-exchange';
import type { Services } from '../../services/contract';
import type { ServerEntry } from '../servers/server-entry';
import type { UpstreamAnswer, UpstreamAsk } from '../upstream/upstream';
import { type CallAdmission, CallBooking } from './call-booking';
import { CALLS, callJob } from './plan-call';

/** A request that goes to a server, and counts. */
export interface CallStart {
  readonly exchange: Exchange;
  readonly principal: Authenticated;
  readonly entry: ServerEntry;
  /** As limits and log name it: the tool, or the method. */
  readonly tool: string;
  readonly runId: string;
  readonly bytesIn: number;
  /** Charged by the call; everything else is free. */
  readonly isPriced: boolean;
  readonly ask: Omit<UpstreamAsk, 'maxBytes'>;
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

/** Admits the call and sends it. `onAdmitted` is told of the booking, which is settled by then on every path. */
export async function startCall(
  services: Services,
  { exchange, principal, entry, tool, runId, bytesIn, isPriced, ask }: CallStart,
  onAdmitted: (booking: CallBooking, admission: CallAdmission) => void,
): Promise<StartedCall> {
  const { alias } = entry.server;
  const job = callJob({
    ...{ tool, runId, bytesIn },
    server: () => {
      const server = services.mcp.registry.find(alias)?.server ?? entry.server;
      return isPriced ? server : { id: server.id, alias: server.alias, pricePerCallNanoUsd: 0 };
    },
  });
  const input = { exchange, principal, dialect: 'passthrough', request: job } as const;
  const admission = await admitPlanned(services, input, CALLS);
  const booking = new CallBooking(services, { exchange, admission, job, params: ask.params });
  onAdmitted(booking, admission);
  try {
    if (ask.signal.aborted) throw new GatewayError('client_closed', 'The caller closed the connection.');
    // It learns what the server speaks first, which runs nothing.
    await entry.upstream.facts();
    booking.noteSent();
    const maxBytes = Math.min(services.config.maxResponseBytes, MAX_ANSWER_BYTES);
    const answer = await entry.upstream.ask({ ...ask, maxBytes });
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
