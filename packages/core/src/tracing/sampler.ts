import { isSampled, type TraceContext } from './trace-context';

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** True if the request's spans are exported. */
export type Sampler = (context: TraceContext) => boolean;

type RootName = Exclude<SamplerName, `parentbased_${string}`>;

const ROOTS = {
  always_on: () => () => true,
  always_off: () => () => false,
  traceidratio: sampleByTraceId,
} as const satisfies Record<RootName, (ratio: number) => Sampler>;

const PARENT_BASED = 'parentbased_';

/** `ratio`: from 0 to 1; only for samplers by trace id. `parentbased_*` follows the caller. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  if (!name.startsWith(PARENT_BASED)) return ROOTS[name as RootName](ratio);
  const root = ROOTS[name.slice(PARENT_BASED.length) as RootName](ratio);
  return (context) => (context.parentSpanId === undefined ? root(context) : isSampled(context));
}

/** The random bits of a trace id that a number holds exactly. */
const DIGITS = { from: -14, to: -1, count: 13 };

/**
 * Processes with the same or a larger ratio sample the same traces. Source:
 * https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/
 */
function sampleByTraceId(ratio: number): Sampler {
  const threshold = (1 - ratio) * 16 ** DIGITS.count;
  return ({ traceId }) => Number.parseInt(traceId.slice(DIGITS.from, DIGITS.to), 16) >= threshold;
}
