// A rule that cannot be compiled any more fails whenever it is asked: `on_error` decides.
import { LRUCache } from 'lru-cache';
import type { TextCheck } from './check';
import { findInBase64 } from './detectors/base64';
import { findCards } from './detectors/card';
import { findEmails } from './detectors/email';
import { findInTags } from './detectors/hidden-text';
import { findIbans } from './detectors/iban';
import { findIpAddresses } from './detectors/ip-address';
import { findPattern } from './detectors/pattern';
import { SECRET_DETECTORS } from './detectors/secrets';
import { findWords } from './detectors/words';
import { foldText } from './folded-text';
import { type CompiledRule, Guardrails, type PseudonymMaking, sha256 } from './guardrails';
import type { Encoding, GuardrailCheck, GuardrailPolicy, GuardrailRule, PiiKind } from './policy';
import { type WindowRule, waitsForEnd } from './rule-search';
import type { Detector } from './span';

type CheckOf<T extends GuardrailCheck['type']> = Extract<GuardrailCheck, { type: T }>;

/** Checks of whole texts, by type; each throws for an invalid configuration. */
export type TextChecks = { readonly [T in GuardrailCheck['type']]?: (check: CheckOf<T>) => TextCheck };

/** Current guardrails of a key. */
export interface GuardrailSource {
  /** null = none was ever saved. */
  readonly policy: GuardrailPolicy | null;
  /** Rules of the key, in addition to the project's. */
  readonly keyRules: readonly GuardrailRule[] | null;
  /** Rules of organization, team and user. They are enforced whatever the project's mode. */
  readonly levelRules?: readonly GuardrailRule[];
  /** Secret for pseudonyms with project scope. */
  readonly pseudonymSecret: string;
}

/** Their tables take a tenth of a start: the first rule that needs them loads them. */
const loadPhones = () => require('./detectors/phone') as typeof import('./detectors/phone');
const loadNationalIds = () => require('./detectors/national-id') as typeof import('./detectors/national-id');

const PII: Readonly<Record<PiiKind, (countries?: readonly string[]) => Detector>> = {
  email: () => findEmails,
  phone: (countries) => (countries === undefined ? loadPhones().findPhones : loadPhones().findPhonesOf(countries)),
  card: () => findCards,
  iban: () => findIbans,
  national_id: () => loadNationalIds().findNationalIds,
  ip: () => findIpAddresses,
};
const ALL_PII = Object.keys(PII) as PiiKind[];

/** Detectors of each check type that work on pieces of text; absent for checks of the whole text. */
const DETECTORS: { readonly [T in GuardrailCheck['type']]?: (check: CheckOf<T>) => readonly WindowRule[] } = {
  // Cards before phones before plain numbers: overlapping finds take the first kind.
  pii: ({ kinds = ALL_PII, countries, decode }) => {
    const asked = ALL_PII.filter((kind) => kinds.includes(kind));
    return withHidden(
      asked.map((kind) => ({ detector: PII[kind](countries), folding: 'digits' })),
      decode,
    );
  },
  secrets: ({ decode }) =>
    withHidden(
      SECRET_DETECTORS.map((detector) => ({ detector, folding: 'keys' })),
      decode,
    ),
  regex: ({ pattern }) => [{ detector: findPattern(pattern), folding: 'width' }],
  words: ({ words }) => [{ detector: findWords(words.map((word) => foldText(word, 'words').text)), folding: 'words' }],
};

/** Adds detectors for hidden and encoded text. */
function withHidden(rules: readonly WindowRule[], decode: readonly Encoding[] = []): readonly WindowRule[] {
  const hidden = [findInTags(rules), ...(decode.includes('base64') ? [findInBase64(rules)] : [])];
  return [...rules, ...hidden.map((detector): WindowRule => ({ detector, folding: 'none' }))];
}

/** Their verdict depends on the text alone. */
const LASTING: ReadonlySet<GuardrailCheck['type']> = new Set(['injection', 'similar_to', 'moderation']);
const KEPT_CLEAN = 10_000;
const WAIT_MS = 15_000;
const MAX_RETRIES = 1;
/** Characters of all cached policies: a compiled word takes some sixty times its length. */
const KEPT_CHARACTERS = 4_000_000;

/** Compiles a rule for requests. Throws for an invalid one. */
export function compileRule(rule: GuardrailRule, checks: TextChecks, isShadow: boolean): CompiledRule {
  const { name, on, parts, check, action, onError, maxRetries = MAX_RETRIES } = rule;
  const whole = makeCheck(check, checks);
  const watches = isShadow || action === 'flag' ? { watches: true } : undefined;
  const detectors = whole === undefined ? makeDetectors(check).map((detector) => ({ ...detector, ...watches })) : [];
  return {
    ...{ name, on, action, onError, maxRetries, isShadow, detectors, whole },
    ...(parts === undefined ? {} : { parts: new Set(parts) }),
    ...(LASTING.has(check.type) ? { clean: new LRUCache<string, true>({ max: KEPT_CLEAN }) } : {}),
    check: check.type,
    timeoutMs: check.type === 'webhook' ? check.timeoutMs : WAIT_MS,
    // A rule that only records can run at the end.
    needsWhole: watches === undefined && (whole !== undefined || action === 'retry' || detectors.some(waitsForEnd)),
  };
}

function makeCheck<T extends GuardrailCheck['type']>(check: CheckOf<T>, checks: TextChecks): TextCheck | undefined {
  const make = checks[check.type as T] as ((check: CheckOf<T>) => TextCheck) | undefined;
  if (make !== undefined) return make(check);
  if (DETECTORS[check.type as T] === undefined) throw new Error(`this gateway has no check "${check.type}"`);
  return undefined;
}

function makeDetectors<T extends GuardrailCheck['type']>(check: CheckOf<T>): readonly WindowRule[] {
  const make = DETECTORS[check.type as T] as ((check: CheckOf<T>) => readonly WindowRule[]) | undefined;
  return make?.(check) ?? [];
}

function compileOrFail(rule: GuardrailRule, checks: TextChecks, isShadow: boolean): CompiledRule {
  try {
    return compileRule(rule, checks, isShadow);
  } catch (cause) {
    const { name, on, action, onError, maxRetries = MAX_RETRIES, check } = rule;
    const judge = () => {
      throw cause;
    };
    const broken = { detectors: [], whole: { judge }, timeoutMs: WAIT_MS, needsWhole: true };
    return { name, on, action, onError, maxRetries, isShadow, check: check.type, ...broken };
  }
}

export interface CompileOptions {
  readonly checks: TextChecks;
  /** Only records its findings. */
  readonly isShadow: boolean;
}

/** Rules as requests ask them; one that cannot be asked fails whenever it is. */
export const compileAll = (rules: readonly GuardrailRule[], { checks, isShadow }: CompileOptions) =>
  rules.map((rule) => compileOrFail(rule, checks, isShadow));

/** Compiles keys' policies, each version once, and caches recent ones. */
export class GuardrailCompiler {
  private readonly compiled = new LRUCache<string, Guardrails>({
    maxSize: KEPT_CHARACTERS,
  });

  constructor(private readonly checks: TextChecks) {}

  /** undefined where nothing is asked: the policy is off, or there are no rules. */
  compile({ policy, keyRules, levelRules = [], pseudonymSecret }: GuardrailSource): Guardrails | undefined {
    const rules = policy?.mode === 'off' ? [] : [...(policy?.rules ?? []), ...(keyRules ?? [])];
    if (rules.length + levelRules.length === 0) return undefined;
    const isShadow = policy?.mode === 'shadow';
    const scope = policy?.pseudonymScope ?? 'request';
    const text = JSON.stringify([rules, isShadow, scope, ...levelRules]);
    const hash = sha256(text);
    const id = scope === 'project' ? `${hash} ${pseudonymSecret}` : hash;
    let found = this.compiled.get(id);
    if (found === undefined) {
      const making: PseudonymMaking =
        scope === 'project' ? { scope, secret: new TextEncoder().encode(pseudonymSecret) } : { scope };
      const above = compileAll(levelRules, { checks: this.checks, isShadow: false });
      const all = compileAll(rules, { checks: this.checks, isShadow });
      found = new Guardrails([...above, ...all], hash, making);
      this.compiled.set(id, found, { size: text.length });
    }
    return found;
  }
}
