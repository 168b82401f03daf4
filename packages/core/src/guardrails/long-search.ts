// A failed or late search follows its rule's `on_error`.
import { nextTurn } from '../async/time-slices';
import type { Replace } from './decoders/steps';
import { PATTERN } from './detectors/pattern';
import type { CompiledRule, Finding } from './guardrails';
import { createWindow, type TextKind } from './piece-window';
import type { WindowRule } from './rule-search';
import type { Detector, Span } from './span';
import { checkThread } from './thread/check-worker';

const NONE = new Uint32Array(0);

export interface LongSearch {
  readonly set: Finding;
  /** Throws if nothing may be released. */
  readonly onFailure: (rule: CompiledRule, error: 'timeout' | 'failed', cause: unknown) => void;
}

/** Searches a text in slices, between which others have their turn. */
export async function searchInSlices(
  text: string,
  kind: TextKind,
  { replace, ...search }: LongSearch & { readonly replace: Replace },
): Promise<string> {
  const window = createWindow(kind, await searchElsewhere(text, kind, search), replace);
  const pieces: string[] = [];
  for await (const slice of slicesOf(text, search.set.mostHere)) pieces.push(await window.writeInSlices(slice, false));
  pieces.push(await window.writeInSlices('', true));
  return pieces.join('');
}

/** A text in slices; others have their turn before each. */
export async function* slicesOf(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) {
    await nextTurn();
    yield text.slice(at, at + length);
  }
}

/** Moves slow searches of a text's rules to the thread and reports their finds. */
export async function searchElsewhere(
  text: string,
  kind: TextKind,
  { set, onFailure }: LongSearch,
): Promise<readonly WindowRule[]> {
  const rules: WindowRule[] = [];
  for (const [index, rule] of set.detectors.entries()) {
    const { expression } = rule.detector;
    const owner = set.owners[index];
    if (expression === undefined || owner === undefined || text.length <= expression.most) {
      rules.push(rule);
      continue;
    }
    const signal = AbortSignal.timeout(owner.timeoutMs);
    let places = NONE;
    try {
      const job = { type: 'pattern', pattern: expression.pattern, folding: rule.folding, kind, text } as const;
      ({ places } = await checkThread.ask(job, signal));
    } catch (cause) {
      onFailure(owner, signal.aborted ? 'timeout' : 'failed', cause);
    }
    rules.push({ ...rule, detector: alreadyFound(places), folding: 'none', isSettled: true });
  }
  return rules;
}

/** Returns one search's places at a time; a place may end after the queried text. */
function alreadyFound(places: Uint32Array): Detector {
  let next = 0;
  return {
    find(text, _isEnd, at = 0) {
      const spans: Span[] = [];
      while (next < places.length && (places[next] ?? 0) < at + text.length) {
        spans.push({ start: (places[next] ?? 0) - at, end: (places[next + 1] ?? 0) - at, kind: PATTERN });
        next += 2;
      }
      return spans;
    },
    openFrom: (text) => text.length,
  };
}
