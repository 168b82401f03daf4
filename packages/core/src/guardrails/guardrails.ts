import type { LRUCache } from 'lru-cache';
import { invalidRequest } from '../errors/gateway-error';
import type { TextCheck } from './check';
import { CleanTexts } from './clean-texts';
import type { GuardrailAction, GuardrailCheck, GuardrailPart } from './policy';
import { type WindowRule, waitsForEnd } from './rule-search';

export type GuardrailSide = 'input' | 'output';

/** A rule, ready to be asked. */
export interface CompiledRule {
  readonly name: string;
  readonly on: GuardrailSide | 'both';
  /** All, where absent. */
  readonly parts?: ReadonlySet<GuardrailPart>;
  readonly check: GuardrailCheck['type'];
  readonly action: GuardrailAction;
  readonly maxRetries: number;
  readonly onError: 'block' | 'allow';
  /** Nothing is done about what it finds. */
  readonly isShadow: boolean;
  /** Detectors that work on pieces of a text. */
  readonly detectors: readonly WindowRule[];
  /** Checks the whole text instead. */
  readonly whole?: TextCheck;
  readonly timeoutMs: number;
  /** Texts of earlier turns in which nothing was found, by hash: a long conversation is not asked about anew with each turn. */
  readonly clean?: LRUCache<string, true>;
  /** Nothing of an answer may go on before it has seen all of it. */
  readonly needsWhole: boolean;
}

/** Detectors, and whose each is. */
export interface Finding {
  readonly detectors: readonly WindowRule[];
  readonly owners: readonly CompiledRule[];
  /** Characters that all of them may be asked about at once. */
  readonly mostHere: number;
}

/** The rules that are asked about one part of what goes in or comes out. */
export interface RuleSet extends Finding {
  /** Fallbacks, in order. */
  readonly wholes: readonly CompiledRule[];
  /** Detectors that need only a window and may change the text. */
  readonly windowed: Finding;
  /** The same of those that only watch: nothing waits for them. */
  readonly watching: Finding;
  /** Detectors that can only record after the end of the text. */
  readonly late: (Finding & Pick<RuleSet, 'wholes'>) | undefined;
  readonly isEmpty: boolean;
  /** In which its detectors found nothing. */
  readonly clean: CleanTexts;
}

/** Alphabet of pseudonyms. */
export type PseudonymMaking =
  | { readonly scope: 'request' }
  /** The same in all requests of one customer. */
  | { readonly scope: 'project'; readonly secret: Uint8Array };

export const GUARDRAIL_HEADER = 'X-LLM0-Guardrail';
const MAX_STRICTER = 64;
/** Characters that are searched before others get their turn. */
const SLICE = 16 * 1024;
const PARTS: readonly GuardrailPart[] = ['system', 'user', 'assistant', 'tool_arguments', 'tool_results'];

/** Compiled guardrails of a project and key, once per version. */
export class Guardrails {
  private readonly sets = new Map<string, RuleSet>();
  private readonly stricter = new Map<string, Guardrails>();
  private describing: Guardrails | undefined;
  readonly asksInput: boolean;
  readonly asksOutput: boolean;
  /** Others may be told what comes in, or be asked about it. */
  readonly asksWholeInput: boolean;
  /** An answer is held until its end. */
  readonly holdsAnswers: boolean;
  readonly makesPseudonyms: boolean;
  /** Something may be changed or refused: all is not only watched. */
  readonly acts: boolean;
  /** The same of answers. */
  readonly actsOnOutput: boolean;

  constructor(
    readonly rules: readonly CompiledRule[],
    /** SHA-256 of all it asks: equal for equal rules. */
    readonly hash: string,
    readonly making: PseudonymMaking,
  ) {
    this.asksInput = rules.some(({ on }) => on !== 'output');
    this.asksOutput = rules.some(({ on }) => on !== 'input');
    this.asksWholeInput = rules.some(({ on, whole }) => on !== 'output' && whole !== undefined);
    this.holdsAnswers = rules.some(({ on, needsWhole }) => on !== 'input' && needsWhole);
    this.makesPseudonyms = rules.some(({ action, isShadow }) => action === 'pseudonymise' && !isShadow);
    const acting = rules.filter(({ action, isShadow }) => action !== 'flag' && !isShadow);
    this.acts = acting.length > 0;
    this.actsOnOutput = acting.some((rule) => isAsked(rule, 'output'));
  }

  /** Those asked about a part. Those that only watch change nothing of what others find. */
  rulesFor(on: GuardrailSide, part: GuardrailPart): RuleSet {
    const name = `${on} ${part}`;
    const known = this.sets.get(name);
    if (known !== undefined) return known;
    const asked = this.rules.filter((rule) => isAsked(rule, on) && rule.parts?.has(part) !== false);
    const set = ruleSet(asked);
    this.sets.set(name, set);
    return set;
  }

  /** Rules for descriptions, which need not match an answer's schema. */
  get ofDescriptions(): Guardrails {
    const rules = this.rules.filter(({ check }) => check !== 'json_schema');
    this.describing ??= rules.length === this.rules.length ? this : new Guardrails(rules, this.hash, this.making);
    return this.describing;
  }

  /** Scope of cache entries. Project pseudonyms belong to one customer. */
  cacheScope(customerId: string | undefined): string {
    return this.makesPseudonyms && this.making.scope === 'project'
      ? `${this.hash} ${JSON.stringify(customerId ?? '')}`
      : this.hash;
  }

  /** All that search on one side, whatever part they name: for text of which nobody knows what it is. */
  rulesForAll(on: GuardrailSide): RuleSet {
    const known = this.sets.get(on);
    if (known !== undefined) return known;
    const sets = PARTS.map((part) => this.rulesFor(on, part));
    const asked = this.rules.filter((rule) => sets.some((set) => set.owners.includes(rule)));
    const set = ruleSet(asked.map(({ whole: _whole, ...rule }) => rule));
    this.sets.set(on, set);
    return set;
  }

  /** The rules named (with commas between) refuse what they find, whatever they do otherwise; undefined for a name unknown. */
  withStricter(names: string): Guardrails | undefined {
    const known = this.stricter.get(names);
    if (known !== undefined) return known;
    const wanted = new Set(names.split(',').flatMap((name) => name.trim() || []));
    if ([...wanted].some((name) => !this.rules.some((rule) => rule.name === name))) return undefined;
    const rules = this.rules.map((rule) => (wanted.has(rule.name) ? refusing(rule) : rule));
    const made = new Guardrails(rules, sha256(`${this.hash}\n${[...wanted].sort().join('\n')}`), this.making);
    if (this.stricter.size < MAX_STRICTER) this.stricter.set(names, made);
    return made;
  }
}

/** Current guardrails of a request, stricter on request. Throws `invalid_request` for an unknown rule. */
export function chosenGuardrails(
  guardrails: Guardrails | undefined,
  stricter: string | undefined,
): Guardrails | undefined {
  if (stricter === undefined) return guardrails;
  const chosen = guardrails?.withStricter(stricter);
  if (chosen !== undefined) return chosen;
  const message = `${GUARDRAIL_HEADER} names a rule that doesn't apply to this API key.`;
  throw invalidRequest(GUARDRAIL_HEADER, message);
}

/** The same rule, if it refused what it finds. */
function refusing(rule: CompiledRule): CompiledRule {
  const detectors = rule.detectors.map(({ detector, folding }) => ({ detector, folding }));
  const needsWhole = rule.whole !== undefined || detectors.some(waitsForEnd);
  return { ...rule, action: 'block', onError: 'block', isShadow: false, detectors, needsWhole };
}

export const isAsked = ({ on: asked }: Pick<CompiledRule, 'on'>, on: GuardrailSide): boolean =>
  asked === 'both' || asked === on;

function ruleSet(rules: readonly CompiledRule[]): RuleSet {
  const asked = rules.flatMap((owner) => owner.detectors.map((detector) => ({ owner, detector })));
  const wholes = rules.filter((rule) => rule.whole !== undefined);
  const inPieces = asked.filter(({ detector }) => !waitsForEnd(detector));
  const windowed = unzip(inPieces.filter(({ detector }) => detector.watches !== true));
  const watched = unzip(inPieces.filter(({ detector }) => detector.watches === true));
  const late = asked.filter(({ detector }) => waitsForEnd(detector) && detector.watches === true);
  const watching = wholes.filter((rule) => !rule.needsWhole);
  const hasLate = late.length + watching.length > 0;
  return {
    ...{ ...unzip(asked), wholes, windowed, watching: watched, isEmpty: rules.length === 0 },
    late: hasLate ? { ...unzip(late), wholes: watching } : undefined,
    clean: new CleanTexts(),
  };
}

const unzip = (asked: readonly { readonly owner: CompiledRule; readonly detector: WindowRule }[]): Finding => ({
  detectors: asked.map(({ detector }) => detector),
  owners: asked.map(({ owner }) => owner),
  mostHere: Math.min(SLICE, ...asked.map(({ detector: { detector } }) => detector.expression?.most ?? SLICE)),
});

export const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');
