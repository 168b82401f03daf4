import type { JsonObject } from '@llm0/core/chat/json';
import type { ChosenKey } from '../pipeline/request/authenticate';
import type { Authenticated } from '../pipeline/request/load-principal';
import type { RequestContext } from '../pipeline/request/open-context';

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
}

/** By path. */
export type LineEndpoints = Readonly<Record<string, LineEndpoint>>;
