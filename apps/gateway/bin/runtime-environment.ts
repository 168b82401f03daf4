/**
 * What Bun reads when the gateway's process starts; from code it would be too late. Values already set win.
 * The Dockerfile sets the same.
 */
export const RUNTIME_ENVIRONMENT = {
  /** Upstream requests at once, streams included; Bun's own default of 256 makes healthy vendors seem to time out. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: '20000',
  /**
   * Bun sizes its heap by the machine's memory, and lets garbage of large bodies pile up. Above four fifths of this, each
   * collection is a full one; docs/internals/request-cost.md has figures.
   */
  BUN_JSC_forceRAMSize: String(512 * 1024 * 1024),
  /** Milliseconds: what large bodies took is given back to the system soon; at once (0) costs a tenth of the throughput. */
  MIMALLOC_PURGE_DELAY: '100',
} as const;
