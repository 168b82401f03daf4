import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { LargeJson } from './translation/json-body';
import type { InlineMedia } from './translation/media-source';

/** Connection of a configured provider. Secrets live only here and in its headers. */
export interface ProviderConnection {
  /** Without a trailing slash; the provider defines its end (`/v1` for OpenAI). */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Extra headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Provider-specific settings (region, API version, …). */
  readonly options?: Readonly<Record<string, string>>;
}

export interface EncodeContext {
  readonly connection: ProviderConnection;
  /** The model's name at this provider. */
  readonly model: string;
  /** Price-book entry, for the model's maximum output and capabilities. */
  readonly priced?: PricedModel;
  /** `X-LLM0-Drop-Params: true`: drops unsupported parameters instead of refusing. */
  readonly dropParams: boolean;
  /** Output limit to send when the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Fetched content of the URLs that `remoteMedia` names, by URL. */
  readonly media?: ReadonlyMap<string, InlineMedia>;
}

export interface UpstreamRequest {
  readonly url: string;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | LargeJson;
  /** Headers that need the SHA-256 (hex) of a `LargeJson` body, once it is written. */
  readonly sign?: (bodyHash: string) => Readonly<Record<string, string>>;
  /** Names of the request's parameters that were left out; shown in `X-LLM0-Dropped`. */
  readonly dropped: readonly string[];
}

/** A request whose body may be a form. */
export interface EndpointRequest extends Omit<UpstreamRequest, 'body'> {
  readonly body: UpstreamRequest['body'] | Blob | ReadableStream<Uint8Array>;
}

/** URL and authentication of a request. */
export type Endpoint = Pick<UpstreamRequest, 'url' | 'method' | 'headers'>;

/** The connection's own headers come last, so the operator's override. */
export function jsonHeaders(
  { headers }: ProviderConnection,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    // A compressed stream is held back until a block is full, which delays the first tokens.
    'accept-encoding': 'identity',
    ...own,
    ...headers,
  };
}
