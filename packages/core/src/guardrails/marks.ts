import type { CompiledRule, GuardrailSide } from './guardrails';
import type { GuardrailMark, GuardrailPart } from './policy';

interface OpenMark extends Omit<GuardrailMark, 'count' | 'ms'> {
  count: number;
  ms: number;
}

/** Texts, and vendors' repetitions of an answer: own blocks, and signed reasoning. */
export type Form = 'said' | 'blocks' | 'thoughts';

/** Beyond this number, kinds of finds share one count. */
const MOST = 200;

/** Position of a text with findings. */
export interface Place {
  readonly on: GuardrailSide;
  readonly part: GuardrailPart;
}

/** Guardrail marks of a request's row: a line for each rule and part with findings. */
export class Marks {
  private readonly open = new Map<string, OpenMark>();
  /** Counts by form, under the same ids. */
  private readonly counts: Readonly<Record<Form, Map<string, number>>> = {
    ...{ said: new Map(), blocks: new Map(), thoughts: new Map() },
  };
  private form: Form = 'said';
  private last: (Place & { readonly rule: CompiledRule; readonly error: string; readonly id: string }) | undefined;

  note(rule: CompiledRule, place: Place, count: number, error?: 'timeout' | 'failed'): void {
    const mark = this.markOf(rule, place, error);
    if (mark === undefined) return;
    const counts = this.counts[this.form];
    const id = this.idOf(rule, place, error);
    const found = (counts.get(id) ?? 0) + count;
    counts.set(id, found);
    mark.count = Math.max(mark.count, found);
  }

  /** Runs `judge` on another form of a text; only additional finds count. */
  saidAgain<T>(form: Form, judge: () => T): T {
    const before = this.form;
    this.form = form;
    const end = () => {
      this.form = before;
    };
    let result: T;
    try {
      result = judge();
    } catch (cause) {
      end();
      throw cause;
    }
    if (result instanceof Promise) return result.finally(end) as T;
    end();
    return result;
  }

  /** Time of a rule that left a mark. */
  addTime(rule: CompiledRule, place: Place, ms: number): void {
    const mark = this.open.get(this.idOf(rule, place));
    if (mark !== undefined) mark.ms += ms;
  }

  get isEmpty(): boolean {
    return this.open.size === 0;
  }

  /** undefined where nothing was found. */
  list(): readonly GuardrailMark[] | undefined {
    if (this.open.size === 0) return undefined;
    return Array.from(this.open.values(), (mark) => ({ ...mark, ms: Math.round(mark.ms * 1000) / 1000 }));
  }

  /** A million finds of one rule in one text are nothing special. */
  private idOf(rule: CompiledRule, { on, part }: Place, error = ''): string {
    const { last } = this;
    if (last?.rule === rule && last.on === on && last.part === part && last.error === error) return last.id;
    const id = `${on} ${part} ${rule.isShadow} ${error} ${rule.name}`;
    this.last = { rule, on, part, error, id };
    return id;
  }

  private markOf(rule: CompiledRule, place: Place, error: 'timeout' | 'failed' | undefined): OpenMark | undefined {
    const id = this.idOf(rule, place, error);
    const known = this.open.get(id);
    if (known !== undefined || this.open.size >= MOST) return known;
    const { name, check, action, isShadow } = rule;
    const mark: OpenMark = {
      ...{ rule: name, ...place, check, action, count: 0, ms: 0 },
      ...(isShadow ? { shadow: true as const } : {}),
      ...(error === undefined ? {} : { error }),
    };
    this.open.set(id, mark);
    return mark;
  }
}
