import type { ChatEvent } from '../../chat/event';
import { slicesOf } from '../long-search';
import type { PieceWindow, TextKind } from '../piece-window';
import type { GuardrailPart } from '../policy';
import type { RequestGuard } from '../request-guard';

/** A streamed text: judged, then with pseudonyms restored. */
export class Channel {
  private readonly windows: readonly PieceWindow[];
  /** All of it, where something is to be noted at its end. */
  private readonly said: string[] | undefined;
  private readonly most: number;

  constructor(
    private readonly guard: RequestGuard,
    private readonly part: GuardrailPart,
    private readonly kind: TextKind,
    /** A piece of it as an event. */
    readonly eventOf: (text: string) => ChatEvent,
  ) {
    const place = { on: 'output', part } as const;
    const windows = [guard.watching(place, kind), guard.window(place, kind), guard.restoring(kind)];
    this.windows = windows.filter((window) => window !== undefined);
    this.said = guard.hasLate(place) ? [] : undefined;
    this.most = guard.mostAtOnce(place);
  }

  get holds(): boolean {
    return this.windows.some(({ heldLength }) => heldLength > 0);
  }

  /** Returns the text to release from a piece; long pieces take several turns. */
  push(text: string): string | Promise<string> {
    this.said?.push(text);
    return text.length <= this.most ? this.pass(text) : this.passInSlices(text);
  }

  private async passInSlices(text: string): Promise<string> {
    let passed = '';
    for await (const slice of slicesOf(text, this.most)) passed += await this.writeInSlices(slice, false);
    return passed;
  }

  private async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    let passed = text;
    for (const window of this.windows) passed = await window.writeInSlices(passed, isEnd);
    return passed;
  }

  /** Flushes a large text in slices. */
  flushInSlices(): Promise<string> {
    return this.writeInSlices('', true);
  }

  private pass(text: string): string {
    let passed = text;
    for (const window of this.windows) passed = window.push(passed);
    return passed;
  }

  flush(): string {
    let passed = '';
    for (const window of this.windows) passed = (passed === '' ? '' : window.push(passed)) + window.flush();
    return passed;
  }

  /** Ends the text for late rules. */
  async noteLate(): Promise<void> {
    if (this.said === undefined) return;
    await this.guard.noteLate(this.said.splice(0).join(''), { on: 'output', part: this.part }, this.kind);
  }
}
