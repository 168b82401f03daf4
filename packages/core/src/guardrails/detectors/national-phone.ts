import { type CountryCode, isSupportedCountry, Metadata } from 'libphonenumber-js/max';

/** Number formats of a country. Source: libphonenumber's metadata. */
interface NumberingPlan {
  nationalPrefix(): string | undefined;
  nationalNumberPattern(): string;
  formats(): readonly {
    nationalPrefixFormattingRule(): unknown;
    nationalPrefixIsOptionalWhenFormattingInNationalFormat(): boolean;
  }[];
  type(name: string): { pattern(): string } | undefined;
}

const TYPES = ['FIXED_LINE', 'MOBILE', 'TOLL_FREE', 'PREMIUM_RATE', 'SHARED_COST', 'VOIP', 'PERSONAL_NUMBER', 'UAN'];
const MOST_COUNTRIES = 20;

/** National formats of some countries: digits only. */
export interface NationalNumbers {
  /** With the trunk prefix. */
  readonly prefixed: RegExp;
  /** With the trunk prefix, for numbers in use. */
  readonly prefixedInUse: RegExp;
  /** Numbers in use, for countries without a trunk prefix. */
  readonly bareInUse: RegExp;
}

/** Throws for invalid countries: ISO 3166-1, two letters. */
export function nationalNumbers(countries: readonly string[]): NationalNumbers {
  if (countries.length === 0 || countries.length > MOST_COUNTRIES)
    throw new Error(`"countries" must name 1 to ${MOST_COUNTRIES} countries`);
  const prefixed: string[] = [];
  const prefixedInUse: string[] = [];
  const bareInUse: string[] = [];
  for (const country of countries) {
    if (!isSupportedCountry(country)) throw new Error(`no country with phone numbers of its own: "${country}"`);
    const plan = planOf(country);
    const prefix = plan.nationalPrefix();
    const inUse = TYPES.flatMap((type) => plan.type(type)?.pattern() ?? []).map((pattern) => `(?:${pattern})`);
    if (prefix !== undefined) {
      prefixed.push(`${prefix}(?:${plan.nationalNumberPattern()})`);
      prefixedInUse.push(`${prefix}(?:${inUse.join('|')})`);
    }
    if (!writesPrefix(plan, prefix)) bareInUse.push(...inUse);
  }
  return { prefixed: anyOf(prefixed), prefixedInUse: anyOf(prefixedInUse), bareInUse: anyOf(bareInUse) };
}

function planOf(country: CountryCode): NumberingPlan {
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  return metadata.numberingPlan as unknown as NumberingPlan;
}

/** `0$1` for most numbers: one without it is none. */
function writesPrefix(plan: NumberingPlan, prefix: string | undefined): boolean {
  if (prefix === undefined) return false;
  return plan.formats().every((format) => {
    const rule = format.nationalPrefixFormattingRule();
    const isWritten = typeof rule === 'string' && rule !== prefix && rule.includes(prefix);
    return isWritten && !format.nationalPrefixIsOptionalWhenFormattingInNationalFormat();
  });
}

const anyOf = (patterns: readonly string[]): RegExp =>
  patterns.length === 0 ? /^(?!)/ : new RegExp(`^(?:${patterns.join('|')})$`);
