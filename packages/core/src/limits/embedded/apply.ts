import type { Hold } from '../hold';
import { dayIndex, monthIndex } from '../periods';
import { heldSums, openPeriods, type UsedBudget } from './budgets';
import { type LevelEffect, levelsBefore, setLevels } from './levels';
import { type CustomerState, countCustomer, type EmbeddedState, type KeyState, openDay, openMonth } from './state';

/** Journal line of an admission or hit. Levels are those after the decision, at `atMs`. */
export interface AdmitEffect {
  readonly atMs: number;
  readonly requestId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly customerId?: string;
  /** The month in which this customer is one more. */
  readonly newInMonth?: number;
  readonly keyLevel?: number;
  readonly keyBurst?: number;
  readonly tokenLevel?: number;
  readonly tokenBurst?: number;
  readonly customerLevel?: number;
  readonly customerBurst?: number;
  readonly hour?: number;
  readonly day?: number;
  readonly model?: string;
  readonly modelDay?: number;
  readonly budgets?: readonly UsedBudget[];
  readonly levels?: readonly LevelEffect[];
  readonly hold?: Hold;
}

/** Applies an admission or a hit, also during replay. */
export function applyAdmit(state: EmbeddedState, effect: AdmitEffect): void {
  const { atMs, hold } = effect;
  const key = state.key(effect.projectId, effect.keyId);
  if (effect.keyLevel !== undefined) key.bucket = { level: effect.keyLevel, atMs, burst: effect.keyBurst };
  if (effect.levels !== undefined) setLevels(state, effect.levels);
  if (effect.tokenLevel !== undefined) key.tokens = { level: effect.tokenLevel, atMs, burst: effect.tokenBurst };
  if (effect.customerId !== undefined) {
    const customer = state.customer(effect.projectId, effect.customerId);
    if (effect.newInMonth !== undefined) {
      countCustomer(state, {
        projectId: effect.projectId,
        customerId: effect.customerId,
        month: effect.newInMonth,
      });
    }
    customer.hour = effect.hour;
    customer.day = effect.day;
    if (effect.customerLevel !== undefined)
      customer.bucket = { level: effect.customerLevel, atMs, burst: effect.customerBurst };
    if (effect.model !== undefined && effect.modelDay !== undefined) customer.models.set(effect.model, effect.modelDay);
  }
  if (hold === undefined) return;
  if (effect.budgets !== undefined) openPeriods(state, effect.projectId, effect.budgets);
  state.holds.set(effect.requestId, { ...hold, leaseUntilMs: atMs + state.leaseMs });
  addToSums(state, hold, { spent: 0, held: hold.holdNanoUsd, open: 1 });
}

/** State before an admission, for its rollback. */
export type BeforeAdmit = Readonly<Pick<KeyState, 'bucket' | 'tokens'>> & {
  readonly customer?: Readonly<Pick<CustomerState, 'countedMonth' | 'bucket' | 'hour' | 'day'>>;
  readonly modelDay?: number;
  readonly levels?: readonly LevelEffect[];
};

export function beforeAdmit(state: EmbeddedState, effect: AdmitEffect): BeforeAdmit {
  const { bucket, tokens } = state.key(effect.projectId, effect.keyId);
  const levels = effect.levels && levelsBefore(state, effect.levels);
  if (effect.customerId === undefined) return { bucket, tokens, levels };
  const { countedMonth, models, ...customer } = state.peekCustomer(effect.projectId, effect.customerId);
  const modelDay = effect.model === undefined ? undefined : models.get(effect.model);
  return {
    ...{ bucket, tokens, modelDay, levels },
    customer: { countedMonth, bucket: customer.bucket, hour: customer.hour, day: customer.day },
  };
}

/** Undoes an admission after which nothing else was decided, or all of it undone. */
export function undoAdmit(state: EmbeddedState, effect: AdmitEffect, before: BeforeAdmit): void {
  const { projectId, keyId, customerId, model, hold } = effect;
  const key = state.key(projectId, keyId);
  key.bucket = before.bucket;
  key.tokens = before.tokens;
  if (before.levels !== undefined) setLevels(state, before.levels);
  if (customerId !== undefined) {
    const customer = state.customer(projectId, customerId);
    Object.assign(customer, before.customer);
    if (model !== undefined && before.modelDay !== undefined) customer.models.set(model, before.modelDay);
    else if (model !== undefined && effect.modelDay !== undefined) customer.models.delete(model);
    const { customers } = state.project(projectId);
    if (effect.newInMonth !== undefined) customers.set(effect.newInMonth, (customers.get(effect.newInMonth) ?? 1) - 1);
  }
  if (hold === undefined) return;
  state.holds.delete(effect.requestId);
  addToSums(state, hold, { spent: 0, held: -hold.holdNanoUsd, open: -1 });
}

/** Adds to every counter of a request, in the periods of its admission. */
export function addToSums(
  state: EmbeddedState,
  request: Pick<Hold, 'projectId' | 'keyId' | 'customerId' | 'admittedAtMs' | 'counters'>,
  change: { readonly spent: number; readonly held: number; readonly open: number },
): void {
  const month = monthIndex(request.admittedAtMs);
  const key = state.key(request.projectId, request.keyId);
  key.open += change.open;
  const sums = [openMonth(state.project(request.projectId).months, month), key.total, openMonth(key.months, month)];
  if (request.customerId !== '') {
    const customer = state.customer(request.projectId, request.customerId);
    sums.push(openDay(customer.days, dayIndex(request.admittedAtMs)), openMonth(customer.months, month));
  }
  if (request.counters !== undefined) sums.push(...heldSums(state, request.projectId, request.counters));
  for (const sum of sums) {
    sum.spent += change.spent;
    sum.held += change.held;
  }
}
