import { failureRate } from '@llm0/core/errors/outcome';
import type { Flows } from '../../api/stats';
import { describeFailedShare } from '../../format/failed-share';
import { countOf, formatCount } from '../../format/format-number';
import type { RequestsFilter } from '../../range/use-show-requests';

type Given = Flows['data'][number];

/** Callers, requested models, and what answered. */
export const COLUMNS = ['caller', 'model', 'target'] as const;
export type ColumnName = (typeof COLUMNS)[number];

/** Nodes with a name of their own. */
const MOST_NODES = 6;
const OTHER = 'other';

interface Counts {
  requests: number;
  success: number;
  failed: number;
}

/** Pixels from the top. */
interface Placed {
  readonly top: number;
  readonly height: number;
}

export interface FlowNode extends Counts, Placed {
  readonly key: string;
  readonly label: string;
  /** Its requests; null where no filter names them. */
  readonly filter: RequestsFilter | null;
}

export type RibbonKind = 'fine' | 'some' | 'mostly' | 'cache' | 'none';

/** Requests from a node to one of the next column. */
export interface Ribbon extends Counts {
  readonly from: string;
  readonly to: string;
  readonly kind: RibbonKind;
  readonly filter: RequestsFilter | null;
  /** SVG path, `RIBBON_WIDTH` wide, in pixels from the top. */
  readonly path: string;
}

export interface FlowMap {
  readonly height: number;
  readonly columns: Readonly<Record<ColumnName, readonly FlowNode[]>>;
  /** From callers to models, then from models to targets. */
  readonly ribbons: readonly [readonly Ribbon[], readonly Ribbon[]];
}

export const RIBBON_WIDTH = 100;
/** Height of a label, and of a target. */
const LEAST_HEIGHT = 24;
const GAP = 6;
/** The same for few and many nodes. */
const HEIGHT = 240;
const LEAST_WIDTH = 1;

const CACHE = 'cache';
const NOT_SENT = 'none';

const keyOf: Readonly<Record<ColumnName, (flow: Given) => string>> = {
  caller: (flow) => `caller ${flow.project_id}`,
  model: (flow) => `model ${flow.requested_model}`,
  target: ({ cached, provider }) => (cached ? CACHE : provider === '' ? NOT_SENT : `provider ${provider}`),
};

/** Ways of requests as nodes in three columns, with ribbons as wide as their traffic. */
export function prepareFlow({ data }: Flows, projectName: (id: string) => string): FlowMap {
  const nameOf = namesOf(data, projectName);
  const sums = Object.fromEntries(COLUMNS.map((column) => [column, sumUp(data, nameOf[column])]));
  const scale = Math.min(...COLUMNS.map((column) => scaleOf([...(sums[column]?.values() ?? [])])));
  const height = HEIGHT;
  const columns = Object.fromEntries(
    COLUMNS.map((column) => [column, placeNodes([...(sums[column]?.values() ?? [])], { scale, height })]),
  ) as FlowMap['columns'];
  const ribbonsOf = (from: ColumnName, to: ColumnName) =>
    placeRibbons(sumPairs(data, nameOf[from], nameOf[to]), { from: columns[from], to: columns[to], scale });
  return { height, columns, ribbons: [ribbonsOf('caller', 'model'), ribbonsOf('model', 'target')] };
}

/** Pixels of a request with which a column fills the height, though its small nodes take more than their share. */
function scaleOf(nodes: readonly Counts[]): number {
  let room = HEIGHT - (nodes.length - 1) * GAP;
  let shared = nodes.reduce((sum, { requests }) => sum + requests, 0);
  for (const [index, { requests }] of nodes.toSorted((a, b) => a.requests - b.requests).entries()) {
    if (index === nodes.length - 1 || (requests * room) / Math.max(1, shared) >= LEAST_HEIGHT) break;
    room -= LEAST_HEIGHT;
    shared -= requests;
  }
  // Heights are rounded.
  return Math.max(0, room - nodes.length / 2) / Math.max(1, shared);
}

type Named = Pick<FlowNode, 'key' | 'label' | 'filter'>;
type NameOf = (flow: Given) => Named;

/** Names of the busiest nodes of each column; all others share one. */
function namesOf(data: readonly Given[], projectName: (id: string) => string): Readonly<Record<ColumnName, NameOf>> {
  const nodeOf: Readonly<Record<ColumnName, NameOf>> = {
    caller: (flow) => ({
      ...{ key: keyOf.caller(flow), label: projectName(flow.project_id), filter: { project: flow.project_id } },
    }),
    model: (flow) => ({
      ...{ key: keyOf.model(flow), label: flow.requested_model, filter: { requested_model: flow.requested_model } },
    }),
    target: targetOf,
  };
  return Object.fromEntries(
    COLUMNS.map((column) => {
      const ranked = [...sumUp(data, nodeOf[column]).values()].sort((a, b) => b.requests - a.requests);
      const kept = new Set(
        ranked.slice(0, ranked.length > MOST_NODES ? MOST_NODES - 1 : MOST_NODES).map(({ key }) => key),
      );
      const other = { key: OTHER, label: `${ranked.length - kept.size} others`, filter: null };
      const nameOf: NameOf = (flow) => (kept.has(keyOf[column](flow)) ? nodeOf[column](flow) : other);
      return [column, nameOf];
    }),
  ) as Record<ColumnName, NameOf>;
}

function targetOf(flow: Given): Named {
  const key = keyOf.target(flow);
  if (flow.cached) return { key, label: 'Cache', filter: { cache: ['exact', 'semantic'] } };
  if (flow.provider === '') return { key, label: 'Not sent', filter: { sent: 'false', cache: 'miss' } };
  return { key, label: flow.provider, filter: { provider: flow.provider, sent: 'true' } };
}

type Summed = Named & Counts;

const NO_COUNTS: Counts = { requests: 0, success: 0, failed: 0 };

function addCounts(sum: Counts, part: Counts): void {
  for (const name of ['requests', 'success', 'failed'] as const) sum[name] += part[name];
}

function sumUp(data: readonly Given[], nameOf: NameOf): ReadonlyMap<string, Summed> {
  const sums = new Map<string, Summed>();
  for (const flow of data) {
    const named = nameOf(flow);
    addCounts(
      sums.getOrInsertComputed(named.key, () => ({ ...named, ...NO_COUNTS })),
      flow,
    );
  }
  return sums;
}

interface Pair extends Counts {
  readonly from: string;
  readonly to: string;
  readonly filter: RequestsFilter | null;
}

function sumPairs(data: readonly Given[], fromOf: NameOf, toOf: NameOf): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const flow of data) {
    const [from, to] = [fromOf(flow), toOf(flow)];
    const filter = from.filter && to.filter && { ...from.filter, ...to.filter };
    const empty = () => ({ from: from.key, to: to.key, filter, ...NO_COUNTS });
    addCounts(pairs.getOrInsertComputed(`${from.key}\n${to.key}`, empty), flow);
  }
  return [...pairs.values()];
}

/** Busiest first, others last, in the middle of the height. */
function placeNodes(
  sums: readonly Summed[],
  { scale, height }: { scale: number; height: number },
): readonly FlowNode[] {
  const rank = ({ key }: Summed) => (key === OTHER ? 1 : 0);
  const sorted = sums.toSorted((a, b) => rank(a) - rank(b) || b.requests - a.requests || (a.key < b.key ? -1 : 1));
  const heights = sorted.map(({ requests }) => Math.max(LEAST_HEIGHT, Math.round(requests * scale)));
  const all = heights.reduce((sum, one) => sum + one + GAP, -GAP);
  let top = Math.round((height - all) / 2);
  return sorted.map((node, index) => {
    const placed: FlowNode = { ...node, top, height: heights[index] ?? LEAST_HEIGHT };
    top += placed.height + GAP;
    return placed;
  });
}

interface Between {
  readonly from: readonly FlowNode[];
  readonly to: readonly FlowNode[];
  readonly scale: number;
}

/** Ribbons leave and arrive in the order of the nodes at their other ends, so that they cross little. */
function placeRibbons(pairs: readonly Pair[], { from, to, scale }: Between): readonly Ribbon[] {
  const placesOf = (nodes: readonly FlowNode[]) =>
    new Map(nodes.map(({ key, ...node }, index) => [key, { index, next: startOf(node, scale) }]));
  const [starts, ends] = [placesOf(from), placesOf(to)];
  const indexOf = (places: typeof starts, key: string) => places.get(key)?.index ?? 0;
  const sorted = pairs.toSorted(
    (a, b) =>
      indexOf(starts, a.from) - indexOf(starts, b.from) ||
      indexOf(ends, a.to) - indexOf(ends, b.to) ||
      b.requests - a.requests,
  );
  return sorted.map((pair) => {
    const width = Math.max(LEAST_WIDTH, pair.requests * scale);
    const path = pathOf(take(starts.get(pair.from), width), take(ends.get(pair.to), width), width);
    return {
      ...pair,
      path,
      kind: pair.to === CACHE ? 'cache' : pair.to === NOT_SENT ? 'none' : healthOf(pair),
    };
  });
}

/** From these shares of failures on. */
const SOME = 0.02;
const MOSTLY = 0.5;

/** Share of failures among answers and failures. */
export const shareFailed = ({ success, failed }: Counts): number => failureRate({ success, failures: failed }) ?? 0;

function healthOf(counts: Counts): RibbonKind {
  const share = shareFailed(counts);
  return share < SOME ? 'fine' : share < MOSTLY ? 'some' : 'mostly';
}

/** Where the ribbons of a node begin: in its middle. */
const startOf = ({ top, height, requests }: Placed & Counts, scale: number) => top + (height - requests * scale) / 2;

function take(place: { next: number } | undefined, width: number): number {
  if (place === undefined) return 0;
  const at = place.next;
  place.next += width;
  return at;
}

const round = (value: number) => Math.round(value * 10) / 10;

function pathOf(start: number, end: number, width: number): string {
  const [a, b, c, d] = [start, end, end + width, start + width].map(round);
  const half = RIBBON_WIDTH / 2;
  return `M0 ${a}C${half} ${a} ${half} ${b} ${RIBBON_WIDTH} ${b}V${c}C${half} ${c} ${half} ${d} 0 ${d}Z`;
}

/** Counts in words. */
export function describeCounts(counts: Counts): string {
  const { requests, failed } = counts;
  if (failed === 0) return countOf(requests, 'request');
  return `${countOf(requests, 'request')}, ${formatCount(failed)} failed (${describeFailedShare({ ...counts, failures: failed })})`;
}

/** A ribbon in words. */
export function describeRibbon({ columns, ribbons }: FlowMap, ribbon: Ribbon): string {
  const [from, to] = ribbons[0].includes(ribbon) ? (['caller', 'model'] as const) : (['model', 'target'] as const);
  const labelOf = (column: ColumnName, key: string) => columns[column].find((node) => node.key === key)?.label;
  return `${labelOf(from, ribbon.from)} → ${labelOf(to, ribbon.to)}: ${describeCounts(ribbon)}`;
}
