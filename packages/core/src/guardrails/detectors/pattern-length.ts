// Reads the compiled RE2 program, so that impossible parts don't count.
import type { RE2JS } from 're2js';

/** One step of RE2's machine. Source: `Inst` of re2js, which names its steps as Go's `regexp/syntax` does. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
}

const OP = { alt: 1, altMatch: 2, capture: 3, empty: 4, match: 6, nop: 7, firstRune: 8, lastRune: 11 } as const;
/** Anchors of an empty step, as bits: begin and end of a line or the text. */
const ASKS = { beginText: 4, endText: 8, anyEdge: 15 } as const;
/** A character beyond the first 65,536 counts as two. */
const UNITS = 2;

interface Machine {
  readonly start: number;
  readonly inst: readonly Instruction[];
}

const machineOf = (compiled: RE2JS): Machine => compiled.re2Input.prog as unknown as Machine;
const isRune = ({ op }: Instruction): boolean => op >= OP.firstRune && op <= OP.lastRune;

function nextOf({ op, out, arg }: Instruction): readonly number[] {
  if (op === OP.alt || op === OP.altMatch) return [out, arg];
  return op === OP.capture || op === OP.empty || op === OP.nop || (op >= OP.firstRune && op <= OP.lastRune)
    ? [out]
    : [];
}

/** Longest match including look-ahead; undefined without a bound, or if anchors of lines or text matter. */
export function lengthOfPattern(compiled: RE2JS): number | undefined {
  const { start, inst } = machineOf(compiled);
  const longest = new Map<number, number>();
  /** States on the current path: a repeated one is a cycle. */
  const open = new Set<number>();
  const path = [start];
  while (path.length > 0) {
    const at = path.at(-1) ?? start;
    const step = inst[at];
    if (step === undefined || (step.op === OP.empty && (step.arg & ASKS.anyEdge) !== 0)) return undefined;
    const next = nextOf(step);
    const waiting = next.find((one) => !longest.has(one));
    if (waiting !== undefined) {
      open.add(at);
      if (open.has(waiting)) return undefined;
      path.push(waiting);
      continue;
    }
    open.delete(at);
    longest.set(at, Math.max(0, ...next.map((one) => longest.get(one) ?? 0)) + (isRune(step) ? UNITS : 0));
    path.pop();
  }
  return (longest.get(start) ?? 0) + 1;
}

/** True where every match is empty, if there is any: a place, and no text. */
export function matchesNoText(compiled: RE2JS): boolean {
  const { start, inst } = machineOf(compiled);
  // A path is identified by its state, whether it took a character, and whether the text ended.
  const [TOOK, ENDED] = [1, 2];
  const seen = new Set<number>();
  const ways = [{ at: start, state: 0 }];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const { at, state } = way;
    const id = 4 * at + state;
    const step = inst[at];
    if (step === undefined || seen.has(id)) continue;
    seen.add(id);
    if (step.op === OP.match && (state & TOOK) !== 0) return false;
    const isClosed =
      (isRune(step) && (state & ENDED) !== 0) ||
      (step.op === OP.empty && (step.arg & ASKS.beginText) !== 0 && (state & TOOK) !== 0);
    if (isClosed) continue;
    const now =
      state | (isRune(step) ? TOOK : 0) | (step.op === OP.empty && (step.arg & ASKS.endText) !== 0 ? ENDED : 0);
    for (const next of nextOf(step)) ways.push({ at: next, state: now });
  }
  return true;
}
