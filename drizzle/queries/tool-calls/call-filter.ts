import { toolCalls } from '../../schema/tool-calls';
import type { ProjectScope } from '../of-projects';
import { Rows, type Stored } from '../rows';

/** Rows of all calls that passed authentication. */
export const callRows = new Rows(toolCalls);
/** A row of `tool_calls`; money in nano-USD, milliseconds fractional. */
export type StoredToolCall = Stored<typeof callRows>;

/** All that is given must hold. */
export interface ToolCallFilter {
  readonly projectId?: ProjectScope;
  readonly apiKeyId?: string;
  readonly customerId?: string;
  /** Its alias. */
  readonly server?: string;
  readonly tool?: string;
  readonly status?: string;
  readonly isError?: boolean;
  readonly runId?: string;
  readonly traceId?: string;
  readonly requestId?: string;
  /** Start, inclusive. */
  readonly fromMs?: number;
  /** Up to here, exclusive. */
  readonly toMs?: number;
}
