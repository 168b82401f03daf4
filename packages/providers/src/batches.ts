import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ProviderConnection } from './provider-request';
import { asObject } from './translation/read-json';

/** Asks the vendor at a path behind its root, authenticated. Throws for anything but a 2xx. */
export type AskVendor = (path: string, init?: RequestInit) => Promise<Response>;

/** A batch at the vendor. */
export interface VendorBatch {
  readonly id: string;
  readonly isEnded: boolean;
  /** Paths of its results; a vendor may tell them in any order, and of one line twice. */
  readonly results: readonly string[];
}

/** A request in the vendor's own format. */
export interface VendorLine {
  readonly id: string;
  readonly path: string;
  /** JSON. */
  readonly body: string;
}

/** Lines of one model and path. `mark` is the gateway's name of the batch. */
export interface NewVendorBatch {
  readonly mark: string;
  readonly model: string;
  readonly lines: readonly VendorLine[];
}

/** The answer to a line, as the vendor would have sent it at once. */
export interface VendorResult {
  readonly id: string;
  readonly status: number;
  readonly body: string;
}

/** Batches of a vendor, at its batch prices. */
export interface BatchPart {
  /** How the URLs of requests end that its batches take. */
  readonly paths: readonly string[];
  /** URL behind which `AskVendor` asks, and headers with the key. */
  root(connection: ProviderConnection): string;
  headers(connection: ProviderConnection): Readonly<Record<string, string>>;
  /** `mark` finds it again, where the vendor keeps one. */
  create(ask: AskVendor, batch: NewVendorBatch): Promise<VendorBatch>;
  find(ask: AskVendor, mark: string): Promise<VendorBatch | undefined>;
  read(ask: AskVendor, id: string): Promise<VendorBatch>;
  cancel(ask: AskVendor, id: string): Promise<void>;
  /** undefined for a line that was not run: expired, cancelled, or nothing of ours. */
  decodeResult(line: JsonObject): VendorResult | undefined;
}

/** Tier of usage in a batch. */
export const BATCH_TIER = 'batch';

/** A vendor's answer as an object; empty for anything else. */
export const readVendorJson = async (response: Response): Promise<JsonObject> =>
  asObject((await response.json()) as JsonValue) ?? {};

export const postJson = (body: JsonObject): RequestInit & { readonly headers: Record<string, string> } => ({
  ...{ method: 'POST', body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json' },
});
