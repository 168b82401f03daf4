import { nextTurn } from '../../async/time-slices';
import { type JsonObject, type JsonValue, parseJson } from '../../chat/json';
import { cutAddresses } from '../detectors/cut-addresses';
import type { RuleSet } from '../guardrails';
import type { Place } from '../marks';
import type { RequestGuard } from '../request-guard';
import { waitsForEnd } from '../rule-search';
import type { Span } from '../span';
import { type FoundText, NO_PIECES, type Pieces, replaceTexts, textLists, textsIn } from './string-tree';
import { isSealedText } from './unread-fields';

/** Characters per joint check: most of a request is clean. */
const TOGETHER = 16 * 1024;
/** Items of a list that are judged in turns. */
const MANY = 64;

/** Judges the texts of one request or answer, each once: one text appears in several forms. */
export class GuardedTexts {
  /** Result of each text of the conversation. */
  private readonly judged = new Map<string, string>();
  private readonly any: RuleSet;
  private readonly byPart = new Map<Place['part'], Map<string, string>>();
  /** Judged JSON texts: a stream repeats its pieces as a whole. */
  private readonly jsons = new Map<string, string>();
  /** Lists of texts that were read as one. */
  private readonly joined = new Set<string>();
  private hasChanged = false;

  constructor(
    private readonly guard: RequestGuard,
    private readonly on: Place['on'],
    /** Judged as part of longer texts, so they stay unchanged. */
    readonly pieces: Pieces = NO_PIECES,
  ) {
    this.any = guard.guardrails.rulesForAll(on);
  }

  /** See `Guardrails`. */
  enforcingInput(part: NonNullable<Place['part']>): string | undefined {
    return this.guard.guardrails.enforcing('input', part);
  }

  /** A text of the conversation, by all rules of its part. */
  async text(text: string, part: Place['part']): Promise<string> {
    return this.once(text, part);
  }

  /** Judges adjacent texts. */
  async texts(texts: readonly string[], part: Place['part']): Promise<readonly string[]> {
    const joined = await this.guard.searchJoined(texts, { on: this.on, part });
    const cut = cutAddresses(joined);
    const judged: string[] = [];
    for (const [index, text] of texts.entries())
      judged.push(this.note(text, await this.once(joined[index] ?? '', part, cut[index])));
    return judged;
  }

  /** Arguments of a tool, as JSON text. */
  async json(text: string, part: Place['part']): Promise<string> {
    const id = `${part} ${text}`;
    const result = this.jsons.get(id) ?? (await this.judgeJson(text, parseJson(text), part));
    this.jsons.set(id, result);
    return result;
  }

  /** Judges a JSON text and notes its values for other forms of it. */
  private async judgeJson(text: string, before: JsonValue | undefined, part: Place['part']): Promise<string> {
    const result = await this.guard.judge(text, { on: this.on, part }, 'json');
    this.note(text, result);
    const after = result === text ? before : parseJson(result);
    if (before !== undefined && after !== undefined) this.noteParts(before, after);
    return result;
  }

  /** An identifier, or the name of something. */
  id(text: string): Promise<string> | string {
    const found = { text, isId: true };
    const isKnown = this.judged.has(text);
    return !isKnown && this.any.clean.has(found) ? text : this.judgeId(found, isKnown);
  }

  private async judgeId(found: FoundText, isKnown: boolean): Promise<string> {
    return !isKnown && (await this.areClean([found], this.any)) ? found.text : this.one(found, this.any);
  }

  /** Keeps text that looks sealed and judges the rest as identifiers; anybody may write into these fields. */
  sealed(text: string): Promise<string> | string {
    return isSealedText(text) ? text : this.id(text);
  }

  /**
   * Judges all texts in a value, names of fields and long numbers included. Texts of the conversation take their
   * earlier result; `part`: rules for the others, all rules without it.
   */
  async value<T extends JsonValue | undefined>(value: T, part?: Place['part'], name = ''): Promise<T> {
    const set = part === undefined ? this.any : this.guard.guardrails.rulesFor(this.on, part);
    const pending = this.adjacent(value, set, part);
    if (pending !== undefined) await pending;
    if (Array.isArray(value) && value.length >= MANY) return (await this.items(value, part, name)) as T;
    const found = textsIn(value, [], name, this.pieces);
    const open = found.filter(({ text }) => !this.judged.has(text));
    if (!(await this.areClean(open, set))) for (const one of open) await this.one(one, set, { part });
    return this.hasChanged ? replaceTexts(value, (text) => this.judged.get(text), name, this.pieces) : value;
  }

  /** True if a value has no new findings; records nothing. */
  async isClean(value: JsonValue): Promise<boolean> {
    return this.areClean(
      textsIn(value).filter(({ text }) => this.judged.get(text) !== text),
      this.any,
    );
  }

  /** An object, of which some fields are left as they are. */
  async fields<T extends JsonObject>(object: T, untouched: ReadonlySet<string>, part?: Place['part']): Promise<T> {
    const set = part === undefined ? this.any : this.guard.guardrails.rulesFor(this.on, part);
    for (const [name, value] of Object.entries(object)) {
      const pending = untouched.has(name) ? undefined : this.adjacent(value, set, part);
      if (pending !== undefined) await pending;
    }
    if (!this.hasChanged && (await this.areFieldsClean(object, untouched, part))) return object;
    let changed = false;
    const entries: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(object)) {
      const isLeft = untouched.has(name);
      const judged = isLeft ? value : await this.value(value, part, name);
      const [written = name] = isLeft ? [] : Object.keys(await this.value({ [name]: null }, part));
      changed ||= judged !== value || written !== name;
      entries.push([written, judged]);
    }
    return changed ? (Object.fromEntries(entries) as T) : object;
  }

  /** Checks all fields at once, because most are clean. */
  private areFieldsClean(object: JsonObject, untouched: ReadonlySet<string>, part?: Place['part']): Promise<boolean> {
    const found: FoundText[] = [];
    for (const [name, value] of Object.entries(object)) {
      if (untouched.has(name)) continue;
      textsIn(value, found, name);
      textsIn({ [name]: null }, found);
    }
    const set = part === undefined ? this.any : this.guard.guardrails.rulesFor(this.on, part);
    return this.areClean(
      found.filter(({ text }) => !this.judged.has(text)),
      set,
    );
  }

  /** Judges lists of new texts jointly: a find may span two of them. */
  private adjacent(value: JsonValue | undefined, set: RuleSet, part?: Place['part']): Promise<void> | undefined {
    if (set.detectors.length === 0 || typeof value !== 'object' || value === null) return undefined;
    const lists = textLists(value, [], this.pieces);
    return lists.length === 0 ? undefined : this.judgeLists(lists, set, part);
  }

  private async judgeLists(
    lists: readonly (readonly string[])[],
    set: RuleSet,
    part: Place['part'] = 'user',
  ): Promise<void> {
    for (const texts of lists) {
      const id = JSON.stringify(texts);
      if (this.joined.has(id) || texts.every((text) => this.judged.has(text))) continue;
      this.joined.add(id);
      const joined = await this.guard.searchJoined(texts, { on: this.on, part }, set);
      const cut = cutAddresses(joined);
      for (const [index, text] of texts.entries()) {
        const now = joined[index] ?? '';
        const isOther = now !== text || cut[index]?.length !== 0;
        if (isOther && !this.judged.has(text))
          this.note(text, await this.one({ text: now, isId: false }, set, { part, cut: cut[index] }));
      }
    }
  }

  isJudged(text: string): boolean {
    return this.judged.has(text);
  }

  /** Notes the result for a judged text. */
  note(text: string, result: string): string {
    this.hasChanged ||= result !== text;
    // If two parts have the same text, the stricter result decides for all other forms.
    if (result !== text || !this.judged.has(text)) this.judged.set(text, result);
    return result;
  }

  /** A piece that was judged with its answer: a recorded find inside it doesn't count again. */
  noteWatched(text: string): void {
    if (!this.guard.guardrails.actsOnOutput) this.note(text, text);
  }

  /** Skips text that another form of this part already covered. */
  private async once(text: string, part: Place['part'], cut: readonly Span[] = []): Promise<string> {
    const known = this.byPart.get(part) ?? new Map<string, string>();
    this.byPart.set(part, known);
    // JSON results stay valid JSON: a string replaces a number.
    const json = part === 'tool_results' ? jsonIn(text) : undefined;
    const judge = () =>
      json === undefined
        ? this.guard.judge(text, { on: this.on, part }, 'plain', cut)
        : this.judgeJson(text, json, part);
    const result = known.get(text) ?? (await judge());
    // Alone, the same text may give another result.
    if (cut.length === 0) known.set(text, result);
    return this.note(text, result);
  }

  /** A long list in turns. */
  private async items(list: readonly JsonValue[], part: Place['part'] | undefined, name: string): Promise<JsonValue> {
    const judged: JsonValue[] = [];
    for (const [index, one] of list.entries()) {
      judged.push(await this.value(one, part, name));
      if (index % MANY === MANY - 1) await nextTurn();
    }
    return judged.some((one, index) => one !== list[index]) ? judged : (list as JsonValue);
  }

  private noteParts(before: JsonValue, after: JsonValue): void {
    const [old, now] = [textsIn(before), textsIn(after)];
    if (old.length !== now.length) return;
    for (const [index, { text }] of old.entries()) this.note(text, now[index]?.text ?? text);
  }

  private async one(
    { text, isId, decoded }: FoundText,
    set: RuleSet,
    { part = 'user', cut }: { readonly part?: Place['part']; readonly cut?: readonly Span[] } = {},
  ): Promise<string> {
    const known = this.judged.get(text);
    if (known !== undefined) return known;
    const isDecoded = decoded !== undefined && !this.guard.isClean(decoded, set, false);
    return this.note(text, await this.guard.search(text, { on: this.on, part }, { set, isId, isDecoded, cut }));
  }

  /** True if all are clean, checked together. */
  private async areClean(texts: readonly FoundText[], set: RuleSet): Promise<boolean> {
    if (set.detectors.length === 0) return true;
    if (set.detectors.some(waitsForEnd)) return false;
    const open = texts.filter((one) => !set.clean.has(one));
    if (open.length > 0 && !(await this.areOpenClean(open, set))) return false;
    for (const one of open) set.clean.add(one);
    return true;
  }

  private async areOpenClean(texts: readonly FoundText[], set: RuleSet): Promise<boolean> {
    const together = Math.min(TOGETHER, set.mostHere / 2);
    for (const isId of [true, false]) {
      const group = texts.filter((one) => one.isId === isId).map(({ text }) => text);
      for (let at = 0; at < group.length; ) {
        let joined = '';
        while (at < group.length && joined.length < together) joined += `${group[at++]}\n`;
        // A long one is searched by itself, in turns.
        if (joined.length > 2 * together || joined.includes('\\') || !this.guard.isClean(joined, set, isId))
          return false;
        if (at < group.length) await nextTurn();
      }
    }
    return true;
  }
}

/** Objects and lists; undefined for any other text. */
const jsonIn = (text: string): JsonValue | undefined => (/^\s{0,64}[[{]/.test(text) ? parseJson(text) : undefined);
