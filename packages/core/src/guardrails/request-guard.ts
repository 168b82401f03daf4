import { GatewayError } from '../errors/gateway-error';
import type { Verdict } from './check';
import type { Replace } from './decoders/steps';
import { FoldedStretch } from './folded-text';
import { type CompiledRule, type Finding, type Guardrails, type RuleSet, sha256 } from './guardrails';
import { searchJoined, ToldFinds } from './joined-texts';
import { JsonWindow } from './json-window';
import { type LongSearch, searchInSlices } from './long-search';
import { type Form, Marks, type Place } from './marks';
import { createWindow, type PieceWindow, type TextKind, TimedWindow, WatchingWindow } from './piece-window';
import type { GuardrailMark } from './policy';
import { type PseudonymScope, Pseudonyms } from './pseudonyms';
import { AnswerRefused, blockedBy } from './refusals';
import type { Hit } from './rule-search';
import { mergeSpans, type Span } from './span';
import { TextWindow } from './text-window';

/** Owner of the text. */
export interface Guarded {
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly customerId: string | undefined;
  readonly monotonicMs: () => number;
  /** True for a name that the request has in it by itself. */
  readonly hasName?: (name: string) => boolean;
}

/** Facts about a text outside the conversation. */
export interface TextPlace {
  /** Chance is to be expected in it. */
  readonly isId?: boolean;
  /** Finds in the decoded text are already recorded. */
  readonly isDecoded?: boolean;
  /** Finds that vanish when adjacent texts are joined. */
  readonly cut?: readonly Span[];
}

/** Random-looking text isn't a finding in an identifier. */
const CHANCE = 'token';

/** Judges one request and its answer: findings and pseudonyms. */
export class RequestGuard {
  private readonly marks = new Marks();
  private readonly given: Pseudonyms;
  /** For text that originates from a model: nobody reverses it. */
  private readonly said: Pseudonyms;
  /** Finds of watching detectors, recorded before the texts are judged individually. */
  private readonly told = new ToldFinds();

  constructor(
    readonly guardrails: Guardrails,
    private readonly who: Guarded,
  ) {
    const scope = pseudonymScope(guardrails, who.customerId);
    const { hasName = () => false } = who;
    this.given = new Pseudonyms(scope, hasName);
    this.said = new Pseudonyms(scope, (name) => hasName(name) || this.given.originalOf(name) !== undefined);
  }

  /** For the row; undefined where nothing was found. */
  list(): readonly GuardrailMark[] | undefined {
    return this.marks.list();
  }

  /** Judges another form of a judged text. */
  judgeAgain<T>(form: Form, judge: () => T): T {
    return this.marks.saidAgain(form, judge);
  }

  /** True if a pseudonym replaced something in the request. */
  get hasPseudonyms(): boolean {
    return !this.given.isEmpty;
  }

  /** A judged whole text; the same one if clean. Throws `guardrail_blocked`. */
  async judge(text: string, place: Place, kind: TextKind = 'plain', cut?: readonly Span[]): Promise<string> {
    const set = this.guardrails.rulesFor(place.on, place.part);
    if (set.isEmpty || text === '') return text;
    const found = await this.search(text, place, { set, kind, cut });
    return set.wholes.length === 0 ? found : this.ask(found, place, set.wholes);
  }

  /** Searches without checks of whole texts, for text outside the conversation. */
  search(
    text: string,
    place: Place,
    { set, kind = 'plain', ...where }: { readonly set: Finding; readonly kind?: TextKind } & TextPlace,
  ): Promise<string> | string {
    if (set.detectors.length === 0) return text;
    const startMs = this.who.monotonicMs();
    const noteTime = () => this.noteTime(set.owners, place, this.who.monotonicMs() - startMs);
    const replace = this.acting(set, place, { ...where, text });
    if (text.length > set.mostHere)
      return searchInSlices(text, kind, { ...this.longSearch(set, place), replace }).finally(noteTime);
    try {
      return createWindow(kind, set.detectors, replace).whole(text);
    } finally {
      noteTime();
    }
  }

  /** Searches adjacent texts jointly, for finds across their borders. */
  async searchJoined(
    texts: readonly string[],
    place: Place,
    set: Finding = this.guardrails.rulesFor(place.on, place.part),
  ): Promise<readonly string[]> {
    if (set.detectors.length === 0 || texts.length < 2) return texts;
    const joined = await searchJoined(texts, { ...this.longSearch(set, place), replace: this.acting(set, place) });
    return this.told.add(joined, set.owners);
  }

  private longSearch(set: Finding, place: Place): LongSearch {
    return { set, onFailure: (rule, error, cause) => this.fail(rule, place, error, cause) };
  }

  /** True if no rule of the set matches; records nothing. */
  isClean(text: string, set: RuleSet, isId: boolean): boolean {
    const stretch = new FoldedStretch(text, 0);
    return set.detectors.every(({ detector, folding }) => {
      const folded = stretch.as(folding);
      return (
        detector.mayFind?.(folded.text, 0, folded.traitsOf(0)) === false ||
        detector.find(folded.text, true).every(({ kind }) => isId && kind === CHANCE)
      );
    });
  }

  /** Acts on one text. Overlapping finds of a watching rule count once, as replacements do. */
  private acting(
    set: Finding,
    place: Place,
    { isId, isDecoded, cut, text }: TextPlace & { readonly text?: string } = {},
  ): Replace {
    const watchedUntil = new Map<CompiledRule, number>();
    return (hit, original) => {
      if (isId === true && hit.kind === CHANCE) return undefined;
      if (cut?.some(({ start, end, kind }) => kind === hit.kind && start <= hit.start && end >= hit.end))
        return undefined;
      if (isDecoded === true && hit.rules.every((rule) => set.detectors[rule]?.detector.decodes === true))
        return undefined;
      const rule = set.owners[hit.rule];
      if (rule !== undefined && set.detectors[hit.rule]?.watches === true) {
        const until = watchedUntil.get(rule) ?? 0;
        watchedUntil.set(rule, Math.max(until, hit.end));
        if (hit.start < until || this.told.has(text, rule.name, hit)) return undefined;
      }
      return this.act(set, place, hit, original);
    };
  }

  /** Judges pieces of a text; throws `guardrail_blocked` from `push` and `flush`. */
  window(place: Place, kind: TextKind): PieceWindow | undefined {
    return this.windowOf(this.guardrails.rulesFor(place.on, place.part).windowed, place, kind);
  }

  /** Records finds in a stream; the text passes unchanged at once. */
  watching(place: Place, kind: TextKind): PieceWindow | undefined {
    const window = this.windowOf(this.guardrails.rulesFor(place.on, place.part).watching, place, kind);
    return window && new WatchingWindow(window);
  }

  private windowOf(set: Finding, place: Place, kind: TextKind): PieceWindow | undefined {
    if (set.detectors.length === 0) return undefined;
    const window = createWindow(kind, set.detectors, this.acting(set, place));
    return new TimedWindow(window, this.who.monotonicMs, (ms) => this.noteTime(set.owners, place, ms));
  }

  /** Characters that windows of a part take at once. */
  mostAtOnce({ on, part }: Place): number {
    const { windowed, watching } = this.guardrails.rulesFor(on, part);
    return Math.min(windowed.mostHere, watching.mostHere);
  }

  /** True if some rules can record only at the end of a stream, by `noteLate`. */
  hasLate({ on, part }: Place): boolean {
    return this.guardrails.rulesFor(on, part).late !== undefined;
  }

  /** Throws where a check cannot be made, and its rule refuses then. */
  async noteLate(text: string, place: Place, kind: TextKind): Promise<void> {
    const { late } = this.guardrails.rulesFor(place.on, place.part);
    if (late === undefined || text === '') return;
    await this.search(text, place, { set: late, kind });
    await this.ask(text, place, late.wholes);
  }

  /** Restores pseudonyms in a streamed answer. */
  restoring(kind: TextKind): PieceWindow | undefined {
    if (this.given.isEmpty) return undefined;
    const rules = [{ detector: this.given.detector(), folding: 'none' as const }];
    const replace: Replace = (_hit, name) => this.given.originalOf(name);
    return kind === 'json' ? new JsonWindow(rules, replace) : new TextWindow(rules, replace);
  }

  restore(text: string, kind: TextKind = 'plain'): string {
    const window = text.includes('<') || text.includes('\\') ? this.restoring(kind) : undefined;
    return window === undefined ? text : window.whole(text);
  }

  private act(set: Finding, place: Place, hit: Hit, original: string): string | undefined {
    let acting: CompiledRule | undefined;
    let refusing: CompiledRule | undefined;
    const { rules } = hit;
    for (const [at, index] of rules.entries()) {
      const rule = set.owners[index] as CompiledRule;
      // Several detectors of one rule count once.
      const isTold = at > 0 && rules.findIndex((other) => set.owners[other] === rule) < at;
      if (!isTold) this.marks.note(rule, place, 1);
      if (rule.isShadow || rule.action === 'flag') continue;
      if (rule.action === 'block' || rule.action === 'retry') refusing ??= rule;
      if (index === hit.rule) acting = rule;
    }
    if (refusing !== undefined) throw this.refuse(refusing, place);
    return acting === undefined ? undefined : this.replacement(acting, place, hit.kind, original);
  }

  private replacement(rule: CompiledRule, { on }: Place, kind: string, original: string): string {
    if (rule.action !== 'pseudonymise') return `[${kind.toUpperCase()}]`;
    if (on === 'input') return this.given.nameOf(kind, original);
    // The caller already knows their own input, so an answer may contain it.
    return this.given.knows(kind, original) ? original : this.said.nameOf(kind, original);
  }

  private refuse(rule: CompiledRule, { on }: Place, reason?: string): Error {
    if (rule.action === 'retry' && on === 'output') return new AnswerRefused(rule, reason);
    return blockedBy(rule, on);
  }

  private noteTime(owners: readonly CompiledRule[], place: Place, ms: number): void {
    if (this.marks.isEmpty) return;
    for (const rule of new Set(owners)) this.marks.addTime(rule, place, ms);
  }

  /** Runs checks of the whole text, each on the previous one's result. */
  private async ask(text: string, place: Place, rules: readonly CompiledRule[]): Promise<string> {
    let result = text;
    for (const rule of rules) {
      const startMs = this.who.monotonicMs();
      const known = place.on === 'input' ? rule.clean : undefined;
      const id = known && sha256(`${place.part} ${result}`);
      if (id !== undefined && known?.has(id) === true) continue;
      const verdict = await this.verdictOf(rule, result, place);
      if (id !== undefined && verdict?.count === 0) known?.set(id, true);
      if (verdict !== undefined) result = this.follow(rule, verdict, result, place);
      this.marks.addTime(rule, place, this.who.monotonicMs() - startMs);
    }
    return result;
  }

  private async verdictOf(rule: CompiledRule, text: string, place: Place): Promise<Verdict | undefined> {
    const { projectId, keyId, requestId } = this.who;
    const abort = new AbortController();
    const timer = Promise.withResolvers<never>();
    const timeout = setTimeout(() => {
      abort.abort();
      timer.reject(TIMED_OUT);
    }, rule.timeoutMs);
    try {
      const judged = rule.whole?.judge({ text, ...place, projectId, keyId, requestId }, abort.signal);
      return await Promise.race([judged, timer.promise]);
    } catch (cause) {
      this.fail(rule, place, cause === TIMED_OUT ? 'timeout' : 'failed', cause);
      return undefined;
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Notes that a check could not be made. Throws `guardrail_blocked` unless its rule lets that pass. */
  private fail(rule: CompiledRule, place: Place, error: 'timeout' | 'failed', cause: unknown): void {
    this.marks.note(rule, place, 0, error);
    if (rule.isShadow || rule.onError === 'allow') return;
    const message = `The guardrail "${rule.name}" couldn't be checked. Retry shortly.`;
    throw new GatewayError('guardrail_blocked', message, { param: rule.name, cause });
  }

  private follow(rule: CompiledRule, verdict: Verdict, text: string, place: Place): string {
    const { count, spans, replacement, reason } = verdict;
    if (count === 0) return text;
    this.marks.note(rule, place, count);
    if (rule.isShadow || rule.action === 'flag') return text;
    if (rule.action === 'block' || rule.action === 'retry') throw this.refuse(rule, place, reason);
    if (replacement !== undefined) return replacement;
    if (spans === undefined || spans.length === 0) return this.replacement(rule, place, rule.check, text);
    let result = '';
    let at = 0;
    for (const { start, end, kind } of mergeSpans(spans)) {
      result += text.slice(at, start) + this.replacement(rule, place, kind, text.slice(start, end));
      at = end;
    }
    return result + text.slice(at);
  }
}

const TIMED_OUT = new Error('a check took too long');
function pseudonymScope({ making }: Guardrails, customerId = ''): PseudonymScope {
  return making.scope === 'request' ? { kind: 'request' } : { kind: 'project', secret: making.secret, customerId };
}
