import type { Step } from '../../charts/waterfall/prepare-waterfall';
import { roundTicks } from '../../charts/waterfall/prepare-waterfall';
import { countOf } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import type { Tone } from '../../ui/badge';
import type { RunDetail } from './use-runs';

type Item = RunDetail['items'][number];

/** A request or a tool call of a run. */
export interface RunStep extends Step {
  readonly requestId: string;
  readonly isCall: boolean;
}

export interface RunPicture {
  readonly steps: readonly RunStep[];
  readonly wholeMs: number;
  readonly ticks: readonly number[];
  readonly note: string | null;
}

/** As many as the API lists. */
const MOST_ITEMS = 1000;

/** Requests with the tool calls that follow them, on one time axis. */
export function prepareRun(items: readonly Item[]): RunPicture {
  // A row's time is that of its admission, and most work of the gateway comes before.
  const starts = items.map(({ created_at: at, overhead_ms: ms }) => Date.parse(at) - (ms ?? 0));
  const beginMs = Math.min(...starts);
  const steps = items.map((item, index): RunStep => {
    const isCall = item.type === 'tool_call';
    return {
      ...{ kind: kindOf(item), name: item.name, detail: detailOf(item), isCall, requestId: item.request_id },
      ...{ startMs: (starts[index] ?? beginMs) - beginMs, ms: item.latency_ms },
      // The request before it asked for the call.
      depth: isCall && items.slice(0, index).some(({ type }) => type === 'request') ? 1 : 0,
    };
  });
  const wholeMs = Math.max(1, ...steps.map(({ startMs, ms }) => startMs + ms));
  const note = items.length < MOST_ITEMS ? null : `The first ${MOST_ITEMS} requests and tool calls.`;
  return { steps, wholeMs, ticks: roundTicks(wholeMs), note };
}

function kindOf({ type, status }: Item): Step['kind'] {
  if (status === 'aborted') return 'cancelled';
  if (status !== 'success') return 'failed';
  return type === 'tool_call' ? 'generation' : 'attempt';
}

function detailOf({ type, error_code: code, cost_usd: usd, tokens_total: tokens }: Item): string {
  const parts = [code, type === 'request' && tokens > 0 ? countOf(tokens, 'token') : null];
  return [...parts.filter((part) => part !== null), formatUsd(usd)].join(', ');
}

const TONES: Readonly<Record<RunDetail['state'], Tone>> = { running: 'good', paused: 'warn', stopped: 'neutral' };
/** An agent that asks nothing for so long is done, or stuck. */
const IDLE_MS = 10 * 60_000;

/** A run that may go on is idle after ten minutes without a request or tool call. */
export function stateOfRun(
  { state, last_active_at: last, started_at: start }: Pick<RunDetail, 'state' | 'last_active_at' | 'started_at'>,
  nowMs: number,
): { readonly label: string; readonly tone: Tone } {
  const latest = last ?? start;
  const isIdle = state === 'running' && latest !== null && nowMs - Date.parse(latest) > IDLE_MS;
  return isIdle ? { label: 'idle', tone: 'neutral' } : { label: state, tone: TONES[state] };
}

/** Two projects may have runs of one name. */
export const keyOfRun = ({ project_id: projectId, id }: Pick<RunDetail, 'project_id' | 'id'>): string =>
  `${projectId} ${id}`;

export function readRunKey(key: string): { readonly projectId: string; readonly id: string } {
  const cut = key.indexOf(' ');
  return { projectId: key.slice(0, cut), id: key.slice(cut + 1) };
}
