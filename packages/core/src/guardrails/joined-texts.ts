import { parse } from 'tldts';
import { EscapeAwareWindow } from './decoders/escape-aware-window';
import type { Replace, Step } from './decoders/steps';
import { findEmails } from './detectors/email';
import { firstFrom, foldText } from './folded-text';
import { type LongSearch, searchElsewhere, slicesOf } from './long-search';
import type { Hit, WindowRule } from './rule-search';
import { AHEAD, CONTEXT } from './span';

/** Characters of texts that are searched as one; of more than that only where they meet. */
const MOST_JOINED = 128 * 1024;
const JOINED_SIDE = 4096;
const EMAIL = 'email';

export type JoinedSearch = LongSearch & { readonly replace: Replace };

/** A find of a rule that only watches, as far as it stands in one text. */
export interface ToldFind {
  readonly rule: number;
  readonly start: number;
  readonly end: number;
}

/** A text after all of them were read as one, and what was told of it. */
export interface JoinedText {
  readonly text: string;
  readonly told: readonly ToldFind[];
}

/** Finds that were told of before their texts are judged by themselves, by the names of their rules. */
export class ToldFinds {
  private readonly byText = new Map<string, readonly (ToldFind & { readonly name: string | undefined })[]>();

  /** Gives the texts. */
  add(joined: readonly JoinedText[], owners: readonly { readonly name: string }[]): readonly string[] {
    for (const { text, told } of joined) {
      if (told.length === 0) continue;
      const named = told.map((find) => ({ ...find, name: owners[find.rule]?.name }));
      this.byText.set(text, named);
    }
    return joined.map(({ text }) => text);
  }

  has(text: string | undefined, name: string, { start, end }: Pick<Hit, 'start' | 'end'>): boolean {
    const told = text === undefined ? undefined : this.byText.get(text);
    return told?.some((find) => find.name === name && start < find.end && end > find.start) === true;
  }
}

/**
 * Texts that are read one behind the other, before each is judged by itself: what begins in one and ends in another one. Half of it
 * may be a find of its own, and would hide the other half, or be told once more.
 */
export async function searchJoined(texts: readonly string[], search: JoinedSearch): Promise<readonly JoinedText[]> {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= MOST_JOINED) return joinAll(texts, search);
  const joined: JoinedText[] = texts.map((text) => ({ text, told: [] }));
  for (let index = 1; index < joined.length; index++) {
    const [before = NOTHING, behind = NOTHING] = [joined[index - 1], joined[index]];
    const sides = [before.text.slice(-JOINED_SIDE), behind.text.slice(0, JOINED_SIDE)];
    const [left = NOTHING, right = NOTHING] = await joinAll(sides, search);
    const at = Math.max(0, before.text.length - JOINED_SIDE);
    const moved = left.told.map((one) => ({ ...one, start: at + one.start, end: at + one.end }));
    joined[index - 1] = { text: before.text.slice(0, at) + left.text, told: [...before.told, ...moved] };
    joined[index] = { text: right.text + behind.text.slice(JOINED_SIDE), told: right.told };
  }
  return joined;
}

const NOTHING: JoinedText = { text: '', told: [] };

async function joinAll(texts: readonly string[], { replace, ...search }: JoinedSearch): Promise<readonly JoinedText[]> {
  const bounds: number[] = [];
  for (const text of texts) bounds.push((bounds.at(-1) ?? 0) + text.length);
  const all = texts.join('');
  const rules = await searchElsewhere(all, 'plain', search);
  const crosses = ({ start, end, kind }: Hit) => {
    for (let next = firstFrom(bounds, start + 1); (bounds[next] ?? end) < end; next++) {
      const bound = bounds[next] ?? end;
      if (kind !== EMAIL || !isFinished(all.slice(start, bound), all.slice(bound, end))) return true;
    }
    return false;
  };
  const told: Hit[] = [];
  const window = new EscapeAwareWindow(rules, (hit, original) => {
    if (!crosses(hit) && isAlone(hit, { all, bounds, rule: rules[hit.rule] })) return undefined;
    if (rules[hit.rule]?.watches === true) told.push(hit);
    return replace(hit, original);
  });
  const steps: Step[] = [];
  if (all.length <= search.set.mostHere) steps.push(...window.advance(all, true));
  else {
    for await (const slice of slicesOf(all, search.set.mostHere)) steps.push(...window.advance(slice, false));
    steps.push(...window.advance('', true));
  }
  return cutAgain(texts, steps, told);
}

interface Around {
  readonly all: string;
  /** Where each text ends. */
  readonly bounds: readonly number[];
  readonly rule: WindowRule | undefined;
}

/** True for what is found in its own text too, and not only by what stands before that: `password: ` and its value. */
function isAlone({ start, end }: Hit, { all, bounds, rule }: Around): boolean {
  const next = firstFrom(bounds, start + 1);
  const from = bounds[next - 1] ?? 0;
  const isNear = from > 0 && start - from < CONTEXT;
  if (!isNear || rule === undefined || rule.isSettled === true || rule.detector.needsWhole === true) return true;
  const until = Math.min(bounds[next] ?? all.length, end + AHEAD);
  const folded = foldText(all.slice(from, until), rule.folding);
  const found = rule.detector.find(folded.text, true);
  return found.some((one) => from + folded.originOf(one.start) < end && from + folded.endOf(one.end) > start);
}

/**
 * An address that ends with its text only seems to go on with the first word of the next one: where it has a known domain's end,
 * and would have none with that word.
 */
function isFinished(shown: string, next: string): boolean {
  // Behind a full stop, a word may be the end of a domain: `Is`, `Mit`.
  const address = shown.replace(/\.$/, '');
  const isSentence = address !== shown && /^\p{Lu}/u.test(next);
  if (next.includes('.') || !hasKnownEnd(address) || (!isSentence && hasKnownEnd(shown + next))) return false;
  return findEmails.find(address, true).some(({ start, end }) => start === 0 && end === address.length);
}

/** By the full list: `tldts-icann` does not tell the ends that it knows from others. */
const hasKnownEnd = (address: string): boolean => parse(address.slice(address.lastIndexOf('@') + 1)).isIcann === true;

/**
 * The same texts after what became of all of them; what takes a place goes where it began, and into texts of which nothing else is
 * left: vendors refuse empty ones.
 */
function cutAgain(texts: readonly string[], steps: readonly Step[], told: readonly Hit[]): readonly JoinedText[] {
  const all = texts.join('');
  const cut: JoinedText[] = [];
  let [step, within, at] = [0, 0, 0];
  let bound = 0;
  for (const text of texts) {
    bound += text.length;
    let [out, covering] = ['', ''];
    const finds: ToldFind[] = [];
    while (at < bound && step < steps.length) {
      const { length, replacement } = steps[step] as Step;
      const taken = Math.min(length - within, bound - at);
      if (replacement === undefined) {
        finds.push(...toldIn(told, { from: at, length: taken, to: out.length }));
        out += all.slice(at, at + taken);
      } else if (within === 0) out += replacement;
      covering = replacement ?? covering;
      at += taken;
      within += taken;
      if (within === length) [step, within] = [step + 1, 0];
    }
    cut.push({ text: out === '' ? covering : out, told: finds });
  }
  return cut;
}

/** Moves finds of a stretch of the joined text to one of its texts. */
function toldIn(
  told: readonly Hit[],
  { from, length, to }: { readonly from: number; readonly length: number; readonly to: number },
): readonly ToldFind[] {
  return told.flatMap(({ rule, start, end }) => {
    const [begin, last] = [Math.max(start, from), Math.min(end, from + length)];
    return begin < last ? [{ rule, start: begin - from + to, end: last - from + to }] : [];
  });
}
