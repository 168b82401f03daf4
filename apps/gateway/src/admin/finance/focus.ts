// Rows of FOCUS 1.3 (FinOps Open Cost and Usage Specification): https://focus.finops.org/focus-specification/v1-3/
import { monthRange, type Stretch } from '@llm0/core/finance/calendar';
import { formatUsd } from '@llm0/core/pricing/format-usd';
import { csvLine, Digits } from '@llm0/core/text/csv';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';
import { showInstant } from '../fields/show-fields';
import type { Placed } from './facts';

export interface FocusMonth {
  readonly month: string;
  readonly timeZone: string;
  readonly amounts: readonly Placed<Amount>[];
}

interface Row {
  readonly amount: Placed<Amount>;
  readonly billed: Stretch;
  /** Another month's for a correction. */
  readonly charged: Stretch;
}

const cost = ({ amount }: Row) => new Digits(formatUsd(amount.costNanoUsd));
const provider = ({ amount }: Row) => amount.model?.provider || 'none';
/** A request that no provider got has the model alone. */
const sku = ({ amount: { model } }: Row) => [model?.provider, model?.name].filter(Boolean).join('/');
const isCorrection = ({ amount }: Row) => amount.correctionOf !== undefined;
/** FOCUS has no parts of seconds. */
const instant = (ms: number) => showInstant(ms).replace('.000Z', 'Z');

const CACHES = { exact: ' from the exact cache', semantic: ' from the semantic cache', miss: '' } as const;

function describe(row: Row): string {
  const { requests, cache, correctionOf } = row.amount;
  const of = `${requests} ${requests === 1 ? 'request' : 'requests'} to ${sku(row)}${CACHES[cache ?? 'miss']}`;
  return correctionOf === undefined ? of : `Correction of ${correctionOf}: ${of}`;
}

/** Tags of the gateway have its prefix, as FOCUS wants it of tags that no user defines. */
function tagsOf({ amount: { home, modality } }: Row): string {
  const tags = {
    'llm0/organization_id': home.organizationId,
    'llm0/organization': home.organization,
    'llm0/team_id': home.teamId,
    'llm0/team': home.team,
    'llm0/cost_center': home.costCenter,
    'llm0/modality': modality,
  };
  return JSON.stringify(Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== null)));
}

/** Columns with their cells. ProviderName and PublisherName are deprecated; readers of 1.2 need them. */
const COLUMNS: Readonly<Record<string, (row: Row) => string | number | Digits | null>> = {
  BilledCost: cost,
  BillingAccountId: ({ amount }) => amount.home.organizationId ?? 'none',
  BillingAccountName: ({ amount }) => amount.home.organization ?? 'No organization',
  BillingAccountType: () => 'Organization',
  BillingCurrency: () => 'USD',
  BillingPeriodEnd: ({ billed }) => instant(billed.toMs),
  BillingPeriodStart: ({ billed }) => instant(billed.fromMs),
  ChargeCategory: () => 'Usage',
  ChargeClass: (row) => (isCorrection(row) ? 'Correction' : null),
  ChargeDescription: describe,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ charged }) => instant(charged.toMs),
  ChargePeriodStart: ({ charged }) => instant(charged.fromMs),
  ConsumedQuantity: ({ amount }) => amount.requests,
  ConsumedUnit: () => 'Requests',
  ContractedCost: cost,
  EffectiveCost: cost,
  HostProviderName: provider,
  InvoiceIssuerName: provider,
  ListCost: cost,
  PricingCategory: () => 'Standard',
  PricingQuantity: ({ amount }) => amount.requests,
  PricingUnit: () => 'Requests',
  ProviderName: provider,
  PublisherName: provider,
  ResourceId: ({ amount }) => amount.group,
  ResourceName: ({ amount }) => amount.keyName,
  ResourceType: () => 'API key',
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: () => 'Model requests',
  ServiceProviderName: provider,
  ServiceSubcategory: () => 'Generative AI',
  SkuId: sku,
  SubAccountId: ({ amount }) => amount.home.id,
  SubAccountName: ({ amount }) => amount.home.name,
  SubAccountType: () => 'Project',
  Tags: tagsOf,
};

/** A row for each key, model, modality and cache of a month, in a fixed order; costs add up to the statement's total. */
export function focusCsv({ month, timeZone, amounts }: FocusMonth): string {
  const billed = monthRange(timeZone, month);
  const lines = amounts.map((amount) => {
    const charged = amount.correctionOf === undefined ? billed : monthRange(timeZone, amount.correctionOf);
    const row = { amount, billed, charged };
    return csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(row)));
  });
  return [csvLine(Object.keys(COLUMNS)), ...lines.sort()].map((line) => `${line}\r\n`).join('');
}
