/** One complete server-sent event. Events without a `data` line are never given out. */
export interface SseEvent {
  /** Value of its `event:` line, when it has one. */
  readonly event?: string;
  /** Its data lines, joined with a line feed. */
  readonly data: string;
  /** Its own bytes, where they are already in the plainest form (`data: …` and an empty line, ended by line feeds). */
  readonly raw?: Uint8Array;
}

/** Takes the events of a chunk one after another. */
export interface SseSink {
  take(event: SseEvent): void;
  /** The end of the events from `at` on that the sink takes without having them cut out; `at` for none. */
  takeRun?(text: string, at: number): number;
  /** The bytes of a run just taken. */
  giveRun?(raw: Uint8Array): void;
}

/** Keeps them. */
export class SseEventList implements SseSink {
  readonly events: SseEvent[] = [];

  take(event: SseEvent): void {
    this.events.push(event);
  }
}
