import { parse } from 'tldts';
import { findEmails } from './finders/email';
import { type LongSearch, searchElsewhere, slicesOf } from './long-search';
import { BothReadings } from './readings/both-readings';
import type { Hit, Replace, Step } from './readings/steps';

/** Characters of texts that are searched as one; of more than that only where they meet. */
const MOST_JOINED = 128 * 1024;
const JOINED_SIDE = 4096;
const EMAIL = 'email';

type JoinedSearch = LongSearch & { readonly replace: Replace };

/**
 * Texts that are read one behind the other, before each is judged by itself: what begins in one and ends in another one. Half of it
 * may be a find of its own, and would hide the other half.
 */
export async function searchJoined(texts: readonly string[], search: JoinedSearch): Promise<readonly string[]> {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= MOST_JOINED) return joinAll(texts, search);
  const joined = [...texts];
  for (let index = 1; index < joined.length; index++) {
    const [before, behind] = [joined[index - 1] ?? '', joined[index] ?? ''];
    const sides = [before.slice(-JOINED_SIDE), behind.slice(0, JOINED_SIDE)];
    const [left = '', right = ''] = await joinAll(sides, search);
    joined[index - 1] = before.slice(0, -JOINED_SIDE) + left;
    joined[index] = right + behind.slice(JOINED_SIDE);
  }
  return joined;
}

async function joinAll(texts: readonly string[], { replace, ...search }: JoinedSearch): Promise<readonly string[]> {
  const bounds: number[] = [];
  for (const text of texts) bounds.push((bounds.at(-1) ?? 0) + text.length);
  const all = texts.join('');
  const rules = await searchElsewhere(all, 'plain', search);
  const crosses = ({ start, end, kind }: Hit) =>
    bounds.some(
      (bound) =>
        start < bound && end > bound && !(kind === EMAIL && isFinished(all.slice(start, bound), all.slice(bound, end))),
    );
  const window = new BothReadings(rules, (hit, original) => (crosses(hit) ? replace(hit, original) : undefined));
  const steps: Step[] = [];
  if (all.length <= search.set.mostHere) steps.push(...window.advance(all, true));
  else {
    for await (const slice of slicesOf(all, search.set.mostHere)) steps.push(...window.advance(slice, false));
    steps.push(...window.advance('', true));
  }
  return steps.some(({ replacement }) => replacement !== undefined) ? cutAgain(texts, steps) : texts;
}

/**
 * An address that ends with its text only seems to go on with the first word of the next one: where it has a known domain's end,
 * and would have none with that word.
 */
function isFinished(address: string, next: string): boolean {
  if (next.includes('.') || !hasKnownEnd(address) || hasKnownEnd(address + next)) return false;
  return findEmails.find(address, true).some(({ start, end }) => start === 0 && end === address.length);
}

/** By the full list: `tldts-icann` does not tell the ends that it knows from others. */
const hasKnownEnd = (address: string): boolean => parse(address.slice(address.lastIndexOf('@') + 1)).isIcann === true;

/**
 * The same texts after what became of all of them; what takes a place goes where it began, and into texts of which nothing else is
 * left: vendors refuse empty ones.
 */
function cutAgain(texts: readonly string[], steps: readonly Step[]): readonly string[] {
  const all = texts.join('');
  const cut: string[] = [];
  let [step, within, at] = [0, 0, 0];
  let bound = 0;
  for (const text of texts) {
    bound += text.length;
    let [out, covering] = ['', ''];
    while (at < bound && step < steps.length) {
      const { length, replacement } = steps[step] as Step;
      const taken = Math.min(length - within, bound - at);
      if (replacement === undefined) out += all.slice(at, at + taken);
      else if (within === 0) out += replacement;
      covering = replacement ?? covering;
      at += taken;
      within += taken;
      if (within === length) [step, within] = [step + 1, 0];
    }
    cut.push(out === '' ? covering : out);
  }
  return cut;
}
