import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { monthRange, shiftMonth } from '@llm0/core/finance/calendar';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Db } from '@llm0/drizzle/client';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';
import {
  type AmountKind,
  type ClosedCap,
  listClosedProjects,
  listClosedZones,
  type NewClosing,
} from '@llm0/drizzle/queries/finance/closings';
import { type CurrentHome, loadHomes, loadKeys } from '@llm0/drizzle/queries/finance/who';
import { estimatesOf } from './books';
import { type FactMonth, isWithin, type Placed, type Within } from './facts';
import { isMonthBudget, loadCaps, loadMonthBudgets, MOST_CAPS } from './load-caps';
import { type Facts, loadFacts } from './load-facts';
import type { MonthQuestion } from './load-months';
import { vendorSavedPico } from './vendor-saved';

export interface ClosingQuestion extends Pick<MonthQuestion, 'month' | 'timeZone' | 'nowMs' | 'logRetentionDays'> {
  /** Of a team or organization; empty = of everything. */
  readonly within: Pick<Within, 'teamId' | 'organizationId'>;
  readonly by: { readonly name: string; readonly gatewayVersion: string };
  readonly prices: PriceBook;
}

/** What a closing keeps. Throws `invalid_request` before the month's end, `conflict` if nothing is left to close. */
export async function prepareClosing(db: Db, question: ClosingQuestion): Promise<NewClosing> {
  const { month, timeZone, within, nowMs, by } = question;
  refuseRunning(question);
  const [homes, keys] = await Promise.all([loadHomes(db), loadKeys(db)]);
  const open = await openHomes(db, question, homes);
  const projectId = open.map(({ id }) => id);
  const asked = { ...question, by: 'key', filter: { projectId }, within: {}, visible: null } as const;
  const facts = await loadFacts(db, asked, { homes, keys });
  const amounts = amountsOf(facts, question);
  const capsOf = await loadCapsOf(db, { month, nowMs, projectId });
  const isRounded = facts.month.isRounded || facts.previous?.isRounded === true;
  const sum = (kinds: readonly AmountKind[]) =>
    amounts.reduce((total, one) => total + (kinds.includes(one.kind) ? one.costNanoUsd : 0), 0);
  return {
    closing: {
      ...{ month, timeZone, ...within, ...(within.teamId && { organizationId: open[0]?.organizationId }) },
      ...{ projects: open.length, gatewayVersion: by.gatewayVersion, closedBy: by.name },
      ...{ costNanoUsd: sum(['own', 'correction']), correctionsNanoUsd: sum(['correction']) },
    },
    projects: open.map(({ id, createdAtMs: _, ...home }) => ({
      ...{ ...home, projectId: id, month, isRounded, hasPrevious: !facts.books.before.has(id), caps: capsOf(id) },
    })),
    amounts,
  };
}

/** Caps are of UTC months, so both months must have ended. */
function refuseRunning({ month, timeZone, nowMs }: ClosingQuestion): void {
  const endMs = Math.max(...[timeZone, 'UTC'].map((zone) => monthRange(zone, month).toMs));
  if (endMs <= nowMs) return;
  throw invalidRequest('month', `${month} ends at ${new Date(endMs).toISOString()}. Close it after that.`);
}

async function openHomes(
  db: Db,
  { month, timeZone, within }: ClosingQuestion,
  homes: ReadonlyMap<string, CurrentHome>,
): Promise<readonly CurrentHome[]> {
  const closed = new Set((await listClosedProjects(db, [month])).map(({ id }) => id));
  const open = [...homes.values()].filter((home) => isWithin(home, within) && !closed.has(home.id));
  if (open.length === 0) throw alreadyClosed(month);
  const ids = open.map(({ id }) => id);
  const other = (await listClosedZones(db, ids)).find((zone) => zone !== timeZone);
  if (other === undefined) return open;
  const message = `Earlier months of these projects were closed in ${other}. Send "time_zone": "${other}".`;
  throw new GatewayError('conflict', message, { param: 'time_zone' });
}

export const alreadyClosed = (month: string) =>
  new GatewayError('conflict', `${month} is already closed for these projects.`, { param: 'month' });

function amountsOf({ month, previous, books }: Facts, question: ClosingQuestion): NewClosing['amounts'] {
  // Where the month before is closed, that closing has its amounts.
  const isOpen = ({ home }: Placed<Amount>) => !books.before.has(home.id);
  return [
    ...keptOf(month, 'own', question),
    ...(previous === null
      ? []
      : keptOf({ ...previous, amounts: previous.amounts.filter(isOpen) }, 'previous', question)),
  ];
}

function keptOf(
  { amounts, estimated }: FactMonth,
  kind: AmountKind,
  { month, prices }: ClosingQuestion,
): NewClosing['amounts'] {
  const estimateOf = estimatesOf({ estimated });
  return amounts.map((amount) => {
    const { correctionOf, home, keyName, model, modality, cache } = amount;
    const ofMonth = correctionOf ?? (kind === 'previous' ? shiftMonth(month, -1) : month);
    return {
      ...{ projectId: home.id, month, kind: correctionOf === undefined ? kind : ('correction' as const), ofMonth },
      ...{ apiKeyId: amount.group, keyName, provider: model?.provider ?? '', model: model?.name ?? '' },
      ...{ modality, cache: cache ?? 'miss', requests: amount.requests, costNanoUsd: amount.costNanoUsd },
      ...{ estimatedNanoUsd: estimateOf(amount), savedNanoUsd: amount.savedNanoUsd },
      savedVendorPicoUsd: vendorSavedPico(amount, prices),
      ...{ tokensCacheRead: amount.tokensCacheRead, tokensCacheWrite: amount.tokensCacheWrite },
    };
  });
}

/** All caps of projects and keys, and the tightest of customers. */
async function loadCapsOf(db: Db, question: Parameters<typeof loadMonthBudgets>[1]) {
  const budgets = (await loadMonthBudgets(db, question)).filter(isMonthBudget);
  const isCustomer = ({ scope }: (typeof budgets)[number]) => scope === 'customer';
  const kept = [...budgets.filter((one) => !isCustomer(one)), ...budgets.filter(isCustomer).slice(0, MOST_CAPS)];
  const lines = await loadCaps(db, question, kept);
  const shown = lines.map(({ forecast: _, couldReachOn: __, ...cap }): ClosedCap => cap);
  const byProject = Map.groupBy(shown, ({ projectId }) => projectId);
  return (id: string) => byProject.get(id) ?? [];
}
