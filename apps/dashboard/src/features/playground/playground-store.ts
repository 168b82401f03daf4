import { continueWith, type Turns } from './conversation';
import { type Draft, newDraft, restoreDraft, storeDraft } from './draft';
import type { MediaKind } from './media';
import type { ChatSoFar } from './read-chat';
import { type ChatOutcome, type Sender, type ShownHeaders, sendChat } from './send-chat';

/** One model asked once. */
export interface Run {
  readonly id: number;
  readonly model: string;
  readonly soFar: ChatSoFar;
  /** null while it is on its way. */
  readonly outcome: ChatOutcome | null;
  readonly isStopped: boolean;
  /** Empty until the answer starts. */
  readonly headers: ShownHeaders;
  /** Schema of the answer. */
  readonly schema: Record<string, unknown> | null;
}

export interface State {
  readonly draft: Draft;
  /** In memory only: a reload or signing out clears it. */
  readonly pastedKey: string;
  /** Side by side, of the last time something was sent. */
  readonly runs: readonly Run[];
  /** Turns that the runs received. */
  readonly asked: Turns;
  readonly kept: ReturnType<typeof storeDraft>;
  /** Parts of a logged request that couldn't be restored; null: none. */
  readonly missing: readonly string[] | null;
}

export interface Asking {
  readonly sender: Sender;
  readonly models: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** Instead of chat, for models that make anything but text. */
  readonly mediaOf: (model: string) => { readonly media: MediaKind; readonly body: object } | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly schema: Record<string, unknown> | null;
}

const NOTHING_SAID: ChatSoFar = { text: '', reasoning: '', toolCalls: [], media: [] };
const STORE_AFTER_MS = 200;

/** State of the page. It outlives the page, so answers continue on other pages. */
export class PlaygroundStore {
  private state: State;
  private readonly listeners = new Set<() => void>();
  private readonly aborts = new Map<number, AbortController>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private made = 0;

  constructor(
    private readonly owner: string,
    private readonly tab: Storage,
    private readonly send: typeof sendChat = sendChat,
  ) {
    const draft = restoreDraft(tab, owner) ?? newDraft();
    this.state = { draft, pastedKey: '', runs: [], asked: [], kept: 'all', missing: null };
  }

  readonly get = (): State => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly change = (change: Partial<Draft>): void => {
    this.put({ draft: { ...this.state.draft, ...change } });
    clearTimeout(this.timer);
    this.timer = setTimeout(this.store, STORE_AFTER_MS);
  };

  /** Stores the draft now, and before the page unloads. */
  readonly store = (): void => {
    clearTimeout(this.timer);
    const kept = storeDraft(this.tab, this.owner, this.state.draft);
    if (kept !== this.state.kept) this.put({ kept });
  };

  readonly paste = (pastedKey: string): void => this.put({ pastedKey });

  readonly load = (draft: Draft, missing: readonly string[]): void => {
    this.stopAll();
    this.put({ runs: [], missing });
    this.change(draft);
  };

  readonly clear = (): void => {
    this.stopAll();
    const { sendAs, projectId, keyId, models } = this.state.draft;
    this.put({ runs: [], missing: null });
    this.change({ ...newDraft(), turns: continueWith([], NOTHING_SAID).slice(1), sendAs, projectId, keyId, models });
  };

  /** Asks every model at once; one that fails, or is stopped, leaves the others alone. */
  readonly ask = async (asking: Asking): Promise<void> => {
    this.stopAll();
    const asked = this.state.draft.turns;
    const runs = asking.models.map((model): Run => {
      this.made += 1;
      const { schema } = asking;
      return { id: this.made, model, soFar: NOTHING_SAID, outcome: null, isStopped: false, headers: [], schema };
    });
    this.put({ runs, asked });
    await Promise.all(runs.map((run) => this.askOne(run, asking)));
    const [only, ...others] = this.state.runs;
    const isSame = only?.id === runs[0]?.id && this.state.draft.turns === asked;
    // With several answers, the user chooses one.
    if (only !== undefined && others.length === 0 && isSame) this.goOnWith(only.id);
  };

  private async askOne({ id, model }: Run, { sender, body: chat, mediaOf, headers }: Asking): Promise<void> {
    const abort = new AbortController();
    const media = mediaOf(model);
    this.aborts.set(id, abort);
    try {
      const outcome = await this.send({
        ...{ sender, headers, signal: abort.signal, media: media?.media },
        body: { model, ...(media?.body ?? chat) },
        onHeaders: (shown) => this.putRun(id, { headers: shown }),
        onPart: (soFar) => this.putRun(id, { soFar }),
      });
      this.putRun(id, { soFar: outcome, outcome });
    } catch (cause) {
      if (!abort.signal.aborted) throw cause;
      this.putRun(id, { isStopped: true });
    } finally {
      this.aborts.delete(id);
    }
  }

  /** Adds an answer to the conversation. */
  readonly goOnWith = (id: number): void => {
    const run = this.state.runs.find((one) => one.id === id);
    // A picture or a sound is the end of it.
    if (run === undefined || run.outcome?.fault !== null || run.soFar.media.length > 0) return;
    this.change({ turns: continueWith(this.state.asked, run.soFar) });
  };

  readonly stop = (id: number): void => this.aborts.get(id)?.abort();

  readonly stopAll = (): void => {
    for (const abort of this.aborts.values()) abort.abort();
  };

  private putRun(id: number, change: Partial<Run>): void {
    this.put({ runs: this.state.runs.map((run) => (run.id === id ? { ...run, ...change } : run)) });
  }

  private put(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}

export const isRunning = ({ outcome, isStopped }: Pick<Run, 'outcome' | 'isStopped'>): boolean =>
  outcome === null && !isStopped;
