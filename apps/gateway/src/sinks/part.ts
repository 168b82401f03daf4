/** Rows for a sink, in order. */
export interface Part {
  /** The same for a repeated export: a bucket has it once. */
  readonly key: string;
  /** JSON lines. */
  readonly texts: AsyncIterable<string>;
  /** Aborted when the gateway stops: nobody waits any more. */
  readonly signal?: AbortSignal;
}
