import { type EscapedText, JsonWindow } from './json-window';
import type { WindowRule } from './rule-search';
import { type Replace, TextWindow } from './text-window';

/** Text that is JSON, or has JSON's escapes in it, is judged by what these stand for. */
export type TextKind = 'plain' | EscapedText;

/** Passes on pieces of a text as soon as nothing can be found in them any more. */
export interface PieceWindow {
  readonly heldLength: number;
  push(text: string): string;
  /** All of a text that comes at once. */
  whole(text: string): string;
  flush(): string;
}

export const PLAIN: readonly TextKind[] = ['plain'];
/** What escapes stand for first: half an escape is not left behind by what is found in the text as it is written. */
export const ESCAPES_AND_PLAIN: readonly TextKind[] = ['loose', 'plain'];
const JSON_ONLY: readonly TextKind[] = ['json'];
/** What JSON writes for a character, in a text that a model reads as JSON. */
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|n|r|t|"|\/)/;

/** How a text is to be read: one with escapes in it in both ways. */
export function kindsOf(text: string, kind: TextKind): readonly TextKind[] {
  if (kind === 'json') return JSON_ONLY;
  return ESCAPE.test(text) ? ESCAPES_AND_PLAIN : PLAIN;
}

export function createWindow(kind: TextKind, rules: readonly WindowRule[], replace: Replace): PieceWindow {
  return kind === 'plain' ? new TextWindow(rules, replace) : new JsonWindow(rules, replace, kind);
}

/** A plain window, and behind it one for what escapes stand for: from the first one on. */
export class EscapesToo implements PieceWindow {
  private escapes: PieceWindow | undefined;

  constructor(
    private readonly plain: PieceWindow,
    private readonly createEscapes: () => PieceWindow,
  ) {}

  get heldLength(): number {
    return this.plain.heldLength + (this.escapes?.heldLength ?? 0);
  }

  push(text: string): string {
    return this.pass(this.plain.push(text));
  }

  whole(text: string): string {
    return this.pass(this.plain.whole(text)) + (this.escapes?.flush() ?? '');
  }

  flush(): string {
    const rest = this.pass(this.plain.flush());
    return this.escapes === undefined ? rest : rest + this.escapes.flush();
  }

  private pass(text: string): string {
    // What an escape goes on from has waited for it in the plain window.
    if (this.escapes === undefined && text.includes('\\')) this.escapes = this.createEscapes();
    return this.escapes === undefined ? text : this.escapes.push(text);
  }
}

/** Text passes at once; the window that looks at it changes nothing. */
export class WatchingWindow implements PieceWindow {
  readonly heldLength = 0;

  constructor(private readonly window: PieceWindow) {}

  push(text: string): string {
    this.window.push(text);
    return text;
  }

  whole(text: string): string {
    this.window.whole(text);
    return text;
  }

  flush(): string {
    this.window.flush();
    return '';
  }
}

/** A window that tells how long it took. */
export class TimedWindow implements PieceWindow {
  constructor(
    private readonly window: PieceWindow,
    private readonly monotonicMs: () => number,
    private readonly onTime: (ms: number) => void,
  ) {}

  get heldLength(): number {
    return this.window.heldLength;
  }

  push(text: string): string {
    return this.timed('push', text);
  }

  whole(text: string): string {
    return this.timed('whole', text);
  }

  flush(): string {
    return this.timed('flush', '');
  }

  private timed(method: 'push' | 'whole' | 'flush', text: string): string {
    const startMs = this.monotonicMs();
    try {
      return this.window[method](text);
    } finally {
      this.onTime(this.monotonicMs() - startMs);
    }
  }
}
