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
  /** Only records its findings. */
  readonly isShadow: boolean;
  /** Detectors that work on pieces of a text. */
  readonly detectors: readonly WindowRule[];
  /** Checks the whole text instead. */
  readonly whole?: TextCheck;
  readonly timeoutMs: number;
  /** Hashes of clean texts from earlier turns: a long conversation isn't checked again with each turn. */
  readonly clean?: LRUCache<string, true>;
  /** Needs the whole answer before any release. */
  readonly needsWhole: boolean;
}

/** Detectors with their rules. */
export interface Finding {
  readonly detectors: readonly WindowRule[];
  readonly owners: readonly CompiledRule[];
  /** Characters that all of them may be asked about at once. */
  readonly mostHere: number;
}

/** The rules for one part of input or output. */
export interface RuleSet extends Finding {
  /** Fallbacks, in order. */
  readonly wholes: readonly CompiledRule[];
  /** Detectors that need only a window and may change the text. */
  readonly windowed: Finding;
  /** Watching detectors, which delay nothing. */
  readonly watching: Finding;
  /** Detectors that can only record after the end of the text. */
  readonly late: (Finding & Pick<RuleSet, 'wholes'>) | undefined;
  readonly isEmpty: boolean;
  /** Texts without findings. */
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
  private judging: Guardrails | undefined;
  readonly asksInput: boolean;
  readonly asksOutput: boolean;
  /** True if a check sends the input elsewhere. */
  readonly asksWholeInput: boolean;
  /** An answer is held until its end. */
  readonly holdsAnswers: boolean;
  readonly makesPseudonyms: boolean;
  /** Something may be changed or refused: all is not only watched. */
  readonly acts: boolean;
  /** True if rules act on answers. */
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

  /** Rules for a part. Watching rules don't affect others' findings. */
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

  /** Name of a rule that may change or refuse a side's text, of one part or any: nothing passes it unread. */
  enforcing(on: GuardrailSide, part?: GuardrailPart): string | undefined {
    return this.rules.find(
      (rule) =>
        isAsked(rule, on) && rule.action !== 'flag' && !rule.isShadow && (!part || rule.parts?.has(part) !== false),
    )?.name;
  }

  /** Rules for an answer whose request is no longer to be judged; undefined without any. */
  get ofAnswers(): Guardrails | undefined {
    if (!this.asksOutput) return undefined;
    const rules = this.rules.flatMap((rule) => (rule.on === 'input' ? [] : [{ ...rule, on: 'output' as const }]));
    this.judging ??= new Guardrails(rules, this.hash, this.making);
    return this.judging;
  }

  /** Scope of cache entries. Project pseudonyms belong to one customer. */
  cacheScope(customerId: string | undefined): string {
    return this.makesPseudonyms && this.making.scope === 'project'
      ? `${this.hash} ${JSON.stringify(customerId ?? '')}`
      : this.hash;
  }

  /** All rules that search on one side, for text of an unknown part. */
  rulesForAll(on: GuardrailSide): RuleSet {
    const known = this.sets.get(on);
    if (known !== undefined) return known;
    const sets = PARTS.map((part) => this.rulesFor(on, part));
    const asked = this.rules.filter((rule) => sets.some((set) => set.owners.includes(rule)));
    const set = ruleSet(asked.map(({ whole: _whole, ...rule }) => rule));
    this.sets.set(on, set);
    return set;
  }

  /** Makes the named rules (comma-separated) block; undefined for an unknown name. */
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

/** The rule with the action `block`. */
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
