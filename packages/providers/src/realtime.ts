import type { Usage } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CallerFact, VendorFact } from '@llm0/core/realtime/session-facts';
import type { ProviderConnection } from './provider-request';

/** Protocols of sessions. A caller and its vendor speak the same one. */
export type RealtimeProtocol = 'realtime' | 'live' | 'translation' | 'bidi';

export interface RealtimeTarget {
  readonly connection: ProviderConnection;
  readonly model: string;
  /** Only writes down what it hears. */
  readonly isTranscription: boolean;
}

/** Where a session is, with its authentication. */
export interface RealtimeEndpoint {
  /** `ws` or `wss`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the frames of one session. Frames that mean nothing to the bill cost a glance. */
export interface RealtimeReader {
  readCaller(frame: string): CallerFact | undefined;
  readVendor(frame: string): VendorFact | undefined;
  /** What the caller has sent since the last call, as the gateway counts it. */
  takeInput(): Usage;
  /** What answers have brought since the last call, as the gateway counts it. */
  takeOutput(): Usage;
  /** Seconds of speech since the last call. */
  takeSeconds(): number;
}

/** Sessions of a vendor in one protocol. Pure, like the rest of a provider. */
export interface RealtimePart {
  endpoint(target: RealtimeTarget): RealtimeEndpoint;
  createReader(): RealtimeReader;
  /** The caller's frame by the vendor's name of the model, where it names one. */
  withModel(frame: string, model: string): string;
  /** Stops an answer. */
  cancelFrame(turnId: string): string | undefined;
  /** Tells the caller of an error; undefined where the protocol has no such frame. */
  errorFrame(error: GatewayError, eventId?: string): string | undefined;
  /** True for frames of an answer that its caller shall not see. */
  belongsTo(frame: string, turnId: string): boolean;
}

export type RealtimeParts = { readonly [P in RealtimeProtocol]?: RealtimePart };
