import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { CallerFact, VendorFact } from '@llm0/core/realtime/session-facts';
import type { RealtimePart, RealtimeReader } from '../../realtime';
import { asNumber, asObject, asString } from '../../translation/read-json';
import { parseEvent, peekType } from './peek-type';
import { errorFrame, realtime, socketEndpoint } from './realtime';

/** Of the session so far; the last one comes with its end. */
const LAST = 'session.closed';
const TELLS_SECONDS: ReadonlySet<string> = new Set(['session.usage.updated', LAST]);
const SETTINGS: ReadonlySet<string> = new Set(['session.update', 'session.created', 'session.updated']);

/** Sessions that are billed by their seconds alone. */
class LiveReader implements RealtimeReader {
  readCaller(frame: string): CallerFact | undefined {
    return this.readSettings(frame, peekType(frame) ?? asString(parseEvent(frame).type) ?? '');
  }

  readVendor(frame: string): VendorFact | undefined {
    const type = peekType(frame) ?? asString(parseEvent(frame).type) ?? '';
    if (!TELLS_SECONDS.has(type)) return this.readSettings(frame, type);
    const event = parseEvent(frame);
    const usage = asObject(event.usage) ?? asObject(asObject(event.session)?.usage);
    const seconds = asNumber(usage?.seconds);
    return seconds === undefined ? undefined : { type: 'seconds', seconds, isFinal: type === LAST };
  }

  takeInput() {
    return ZERO_USAGE;
  }

  takeOutput() {
    return ZERO_USAGE;
  }

  takeSeconds() {
    return 0;
  }

  private readSettings(frame: string, type: string) {
    if (!SETTINGS.has(type)) return undefined;
    const model = asString(asObject(parseEvent(frame).session)?.model);
    return { type: 'settings', settings: { model } } as const;
  }
}

export const live: RealtimePart = {
  ...realtime,
  endpoint: (target) => socketEndpoint(target, `live/sessions?model=${encodeURIComponent(target.model)}`),
  createReader: () => new LiveReader(),
  // Nothing but the end of the session stops the clock.
  cancelFrame: () => undefined,
  errorFrame,
};
