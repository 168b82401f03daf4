import type { CustomerLimits, ReserveChange, Settlement } from '../hot-store';
import { monthIndex } from '../periods';
import { type AdmitEffect, applyAdmit } from './apply';
import { applyCounted, applyOpened, type CountedLine, type OpenedLine } from './budgets';
import { type LevelEffect, setLevels } from './levels';
import type { EmbeddedLogQueue } from './log-queue';
import { applyReap, applyReserve, applySettle, releaseHold } from './settle';
import {
  type BudgetState,
  type CustomerState,
  customerOf,
  type DoneMark,
  type EmbeddedState,
  forgetCustomers,
  type KeyState,
  type OpenHold,
  type Sum,
} from './state';

type Pairs<K, V> = readonly (readonly [K, V])[];

/** One journal line. The first group records events, the second the result of a compaction. */
export type JournalLine =
  | { readonly t: 'admit'; readonly effect: AdmitEffect }
  /** `id`: the entry's number in the queue. */
  | {
      readonly t: 'settle';
      readonly atMs: number;
      readonly force: boolean;
      readonly id: number;
      readonly settlement: Settlement;
    }
  | { readonly t: 'reap'; readonly atMs: number; readonly id: number; readonly requestId: string }
  | { readonly t: 'release'; readonly requestId: string }
  | { readonly t: 'reserve'; readonly reserve: Pick<ReserveChange, 'requestId' | 'change' | 'untilMs'> }
  | { readonly t: 'unknown'; readonly settlement: Settlement }
  | { readonly t: 'known'; readonly requestId: string }
  | { readonly t: 'ack'; readonly ids: readonly number[] }
  | {
      readonly t: 'versions';
      readonly projectId: string;
      readonly project: number | null;
      readonly keys: Pairs<string, number>;
    }
  | {
      readonly t: 'limits';
      readonly projectId: string;
      readonly customerId: string;
      readonly limits: CustomerLimits | null;
    }
  | { readonly t: 'open_budget'; readonly budget: OpenedLine }
  | { readonly t: 'count_budget'; readonly budget: CountedLine }
  | { readonly t: 'boot'; readonly id: string }
  | {
      readonly t: 'project';
      readonly id: string;
      readonly months: Pairs<number, Sum>;
      readonly customers?: Pairs<number, number>;
      readonly budgets?: Pairs<string, Omit<BudgetState, 'periods'> & { readonly periods: Pairs<number, Sum> }>;
    }
  | {
      readonly t: 'key';
      readonly id: string;
      readonly key: Omit<KeyState, 'months'>;
      readonly months: Pairs<number, Sum>;
    }
  | {
      readonly t: 'customer';
      readonly id: string;
      readonly customer: Pick<CustomerState, 'bucket' | 'hour' | 'day'> & { readonly countedMonth?: number };
      readonly models: Pairs<string, number>;
      readonly days: Pairs<number, Sum>;
      readonly months: Pairs<number, Sum>;
    }
  | { readonly t: 'level'; readonly level: LevelEffect }
  | { readonly t: 'hold'; readonly requestId: string; readonly hold: OpenHold }
  | { readonly t: 'done' | 'reaped'; readonly requestId: string; readonly mark: DoneMark }
  /** Many marks of settled requests: under load there are hundreds of thousands. */
  | { readonly t: 'dones'; readonly until: Pairs<string, number> }
  | { readonly t: 'entry'; readonly id: number; readonly record: string; readonly queuedAtMs: number };

type LineOf<T extends JournalLine['t']> = Extract<JournalLine, { readonly t: T }>;
/** State restored by the journal. */
export type JournalTarget = { readonly state: EmbeddedState; readonly queue: EmbeddedLogQueue };

const APPLY: { readonly [T in JournalLine['t']]: (target: JournalTarget, line: LineOf<T>) => void } = {
  admit: ({ state }, { effect }) => applyAdmit(state, effect),
  settle: ({ state, queue }, { atMs, force, id, settlement }) => {
    const result = applySettle(state, settlement, { atMs, force });
    state.unknown.delete(settlement.requestId);
    if (result.type === 'queued') queue.push(result.record, atMs, id);
  },
  reap: ({ state, queue }, { atMs, id, requestId }) => {
    const record = applyReap(state, requestId, atMs);
    if (record !== undefined) queue.push(record, atMs, id);
  },
  release: ({ state }, { requestId }) => {
    const hold = state.holds.get(requestId);
    if (hold !== undefined) releaseHold(state, requestId, hold, 0);
  },
  reserve: ({ state }, { reserve }) => void applyReserve(state, reserve),
  unknown: ({ state }, { settlement }) => void state.unknown.set(settlement.requestId, settlement),
  known: ({ state }, { requestId }) => void state.unknown.delete(requestId),
  ack: ({ queue }, { ids }) => void queue.remove(ids),
  versions: ({ state }, { projectId, project, keys }) => {
    const known = state.project(projectId);
    if (project !== null) known.version = Math.max(known.version ?? 0, project);
    for (const [keyId, version] of keys)
      known.keyVersions.set(keyId, Math.max(known.keyVersions.get(keyId) ?? 0, version));
  },
  limits: ({ state }, { projectId, customerId, limits }) => {
    if (limits === null) state.limits.delete(customerOf(projectId, customerId));
    else state.limits.set(customerOf(projectId, customerId), limits);
  },
  open_budget: ({ state }, { budget }) => applyOpened(state, budget),
  count_budget: ({ state }, { budget }) => applyCounted(state, budget),
  boot: ({ state }, { id }) => {
    state.bootId = id;
  },
  project: ({ state }, { id, months, customers = [], budgets = [] }) => {
    fill(state.project(id).months, months);
    fill(state.project(id).customers, customers);
    for (const [name, { periods, ...budget }] of budgets) {
      state.project(id).budgets.set(name, { ...budget, periods: new Map(periods) });
    }
  },
  key: ({ state }, { id, key, months }) => void state.keys.set(id, { ...key, months: new Map(months) }),
  customer: ({ state }, { id, customer, models, days, months }) =>
    void state.customers.set(id, {
      ...customer,
      countedMonth: customer.countedMonth,
      models: new Map(models),
      days: new Map(days),
      months: new Map(months),
    }),
  level: ({ state }, { level }) => setLevels(state, [level]),
  hold: ({ state }, { requestId, hold }) => void state.holds.set(requestId, hold),
  done: ({ state }, { requestId, mark }) => void state.done.set(requestId, mark),
  reaped: ({ state }, { requestId, mark }) => void state.reaped.set(requestId, mark),
  dones: ({ state }, { until }) => {
    for (const [requestId, untilMs] of until) state.done.set(requestId, { untilMs });
  },
  entry: ({ queue }, { id, record, queuedAtMs }) => void queue.push(record, queuedAtMs, id),
};

/** Makes a line so, live and at replay alike. */
export function applyLine(target: JournalTarget, line: JournalLine): void {
  const apply = APPLY[line.t] as ((target: JournalTarget, line: JournalLine) => void) | undefined;
  if (apply === undefined) throw new Error(`unknown journal line ${line.t}`);
  apply(target, line);
}

function fill<K, V>(map: Map<K, V>, pairs: Pairs<K, V>): void {
  for (const [key, value] of pairs) map.set(key, value);
}

const MARKS_A_LINE = 500;

/** The present state as lines. */
export function* snapshotLines({ state, queue }: JournalTarget, nowMs: number): Generator<JournalLine> {
  yield { t: 'boot', id: state.bootId };
  for (const [id, { version, keyVersions, months, customers, budgets }] of state.projects) {
    const kept = [...budgets].map(
      ([name, { periods, ...budget }]) => [name, { ...budget, periods: [...periods] }] as const,
    );
    yield { t: 'project', id, months: [...months], customers: [...customers], budgets: kept };
    yield { t: 'versions', projectId: id, project: version ?? null, keys: [...keyVersions] };
  }
  for (const [id, { months, ...key }] of state.keys) yield { t: 'key', id, key, months: [...months] };
  forgetCustomers(state, monthIndex(nowMs));
  for (const [id, { models, days, months, ...customer }] of state.customers) {
    yield { t: 'customer', id, customer, models: [...models], days: [...days], months: [...months] };
  }
  for (const [id, limits] of state.limits) {
    const [projectId = '', customerId = ''] = splitOnce(id);
    yield { t: 'limits', projectId, customerId, limits };
  }
  for (const [id, level] of state.levels) yield { t: 'level', level: { id, ...level } };
  for (const [requestId, hold] of state.holds) yield { t: 'hold', requestId, hold };
  for (const settlement of state.unknown.values()) yield { t: 'unknown', settlement };
  let until: [string, number][] = [];
  for (const [requestId, { untilMs }] of state.done) {
    until.push([requestId, untilMs]);
    if (until.length < MARKS_A_LINE) continue;
    yield { t: 'dones', until };
    until = [];
  }
  if (until.length > 0) yield { t: 'dones', until };
  for (const [requestId, mark] of state.reaped) yield { t: 'reaped', requestId, mark };
  for (const { id, record, queuedAtMs } of queue.all()) yield { t: 'entry', id, record, queuedAtMs };
}

function splitOnce(text: string): readonly [string, string] {
  const at = text.indexOf('\n');
  return [text.slice(0, at), text.slice(at + 1)];
}
