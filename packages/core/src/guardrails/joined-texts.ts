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

/** A watching rule's find, as far as it lies in one text. */
export interface ToldFind {
  readonly rule: number;
  readonly start: number;
  readonly end: number;
}

/** A text after the joint search, with its recorded finds. */
export interface JoinedText {
  readonly text: string;
  readonly told: readonly ToldFind[];
}

/** Finds recorded before their texts are judged alone, by rule name. */
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
 * Searches adjacent texts jointly before each alone, for finds across their borders. Half of one could be a find
 * itself; it would hide the other half or count twice.
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
  /** End of each text. */
  readonly bounds: readonly number[];
  readonly rule: WindowRule | undefined;
}

/** True for a find within its own text, which needs no preceding text: not `password: ` and its value. */
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
 * True for an address at the end of a text that the next word doesn't continue: it ends with a known domain, which that
 * word would break.
 */
function isFinished(shown: string, next: string): boolean {
  // After a full stop, a word may be a domain's end: `Is`, `Mit`.
  const address = shown.replace(/\.$/, '');
  const isSentence = address !== shown && /^\p{Lu}/u.test(next);
  if (next.includes('.') || !hasKnownEnd(address) || (!isSentence && hasKnownEnd(shown + next))) return false;
  return findEmails.find(address, true).some(({ start, end }) => start === 0 && end === address.length);
}

/** Uses the full list: `tldts-icann` doesn't separate known suffixes from others. */
const hasKnownEnd = (address: string): boolean => parse(address.slice(address.lastIndexOf('@') + 1)).isIcann === true;

/**
 * Splits the changed text again. A replacement goes to its start, and into emptied texts, because vendors refuse empty
 * ones.
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
