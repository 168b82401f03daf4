import type { JsonObject } from '@llm0/core/chat/json';
import type { Authenticated, ChosenKey } from '../pipeline/request/authenticate';
import type { RequestContext } from '../pipeline/request/open-context';
import type { Services } from '../services/contract';

/** Asker of a line. */
export interface LineOrigin {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly headers: Headers;
}

/** An endpoint of the data plane as the lines of a batch use it. */
export interface LineEndpoint {
  /** Serves a line as any other request of the key. */
  readonly handle: (request: Request, chosen: ChosenKey) => Promise<Response>;
  /** The most that a line may cost, in nano-USD. Throws for a request that would be refused. */
  readonly boundOf: (origin: LineOrigin, body: JsonObject) => number;
  /** For its first target; absent where no vendor runs batches of it. */
  readonly encodeFor?: (origin: LineOrigin, body: JsonObject) => EncodedLine;
  /** The same endpoint with these services. */
  readonly withServices: (services: Services) => LineEndpoint;
}

/** A line as a provider would get it. */
export interface EncodedLine {
  readonly provider: string;
  readonly model: string;
  readonly url: string;
  readonly body: string;
}

/** By path. */
export type LineEndpoints = Readonly<Record<string, LineEndpoint>>;
