/** Rows for a sink, in order. */
export interface Part {
  /** The same for a repeated export: a bucket has it once. */
  readonly key: string;
  /** JSON lines. */
  readonly texts: AsyncIterable<string>;
  /** Aborted when the gateway stops: nobody waits any more. */
  readonly signal?: AbortSignal;
}

/** Where a part stands in the order of stored batches. */
export interface Batches {
  /** The batch before the part; once `texts` are read, its last one. */
  readonly seq: number;
  /** JSON lines of tool calls, for ClickHouse; whole once `texts` are read. */
  readonly calls: readonly string[];
  /** Ends the part with this batch; set before `texts` are read. */
  lastSeq?: number | undefined;
}

export interface BatchedPart extends Part {
  readonly batches: Batches;
}
