import { EscapeAwareWindow } from './decoders/escape-aware-window';
import type { Replace } from './decoders/steps';
import { JsonWindow } from './json-window';
import type { WindowRule } from './rule-search';

/** JSON is judged unescaped; other text both as written and unescaped. */
export type TextKind = 'plain' | 'json';

/** Releases pieces of a text as soon as no rule can match them. */
export interface PieceWindow {
  readonly heldLength: number;
  push(text: string): string;
  /** Judges a complete text. */
  whole(text: string): string;
  flush(): string;
  /** `push`, or `flush` at the end, for large output. */
  writeInSlices(text: string, isEnd: boolean): Promise<string>;
}

export function createWindow(kind: TextKind, rules: readonly WindowRule[], replace: Replace): PieceWindow {
  return kind === 'plain' ? new EscapeAwareWindow(rules, replace) : new JsonWindow(rules, replace);
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

  async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    await this.window.writeInSlices(text, isEnd);
    return text;
  }
}

/** A window that measures its time. */
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

  async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    const startMs = this.monotonicMs();
    try {
      return await this.window.writeInSlices(text, isEnd);
    } finally {
      this.onTime(this.monotonicMs() - startMs);
    }
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
