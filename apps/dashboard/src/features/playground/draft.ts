import { newTurn, type Turns } from './conversation';

/** Settings of a draft, as typed: empty ones aren't sent. */
export interface Settings {
  readonly temperature: string;
  readonly top_p: string;
  readonly max_tokens: string;
  readonly stop: string;
  readonly seed: string;
  readonly frequency_penalty: string;
  readonly presence_penalty: string;
  readonly reasoning_effort: string;
  readonly format: 'text' | 'json_object' | 'json_schema';
  readonly schema: string;
  readonly tools: string;
  readonly tool_choice: string;
  /** Any further fields: a JSON object. */
  readonly other: string;
  readonly stream: boolean;
  readonly cache: '' | 'off' | 'refresh';
  readonly customer: string;
}

/** Everything on the page but a pasted key and the answers. */
export interface Draft {
  readonly sendAs: 'key' | 'pasted';
  readonly projectId: string;
  readonly keyId: string;
  /** One to four; an empty first one is the example. */
  readonly models: readonly string[];
  readonly system: string;
  readonly turns: Turns;
  readonly settings: Settings;
}

export const MOST_MODELS = 4;

export const NO_SETTINGS: Settings = {
  ...{ temperature: '', top_p: '', max_tokens: '', stop: '', seed: '', frequency_penalty: '', presence_penalty: '' },
  ...{ reasoning_effort: '', format: 'text', schema: '', tools: '', tool_choice: '', other: '' },
  ...{ stream: true, cache: '', customer: '' },
};

export const newDraft = (): Draft => ({
  sendAs: 'key',
  projectId: '',
  keyId: '',
  models: [''],
  system: '',
  turns: [newTurn('user', { text: 'Explain in two sentences what an LLM gateway is for.' })],
  settings: NO_SETTINGS,
});

/** With the example in the first field if it is empty: what a request is sent to is there to read. */
export const withExample = (models: readonly string[], example: string): readonly string[] =>
  models[0]?.trim() === '' ? models.with(0, example) : models;

const NAME = 'llm0-playground';
/** Stored with its user, so that the next user of this tab doesn't see it. */
interface Stored {
  readonly owner: string;
  readonly draft: Draft;
}

type Tab = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Stores the draft for this tab. Drops pictures that are too large; false: nothing was stored. */
export function storeDraft(tab: Tab, owner: string, draft: Draft): 'all' | 'without pictures' | 'nothing' {
  const bare = { ...draft, turns: draft.turns.map((turn) => ({ ...turn, pictures: [] })) };
  for (const [kept, how] of [
    [draft, 'all'],
    [bare, 'without pictures'],
  ] as const) {
    try {
      tab.setItem(NAME, JSON.stringify({ owner, draft: kept } satisfies Stored));
      return how;
    } catch {
      // Full: the next one is smaller.
    }
  }
  return 'nothing';
}

export function restoreDraft(tab: Tab, owner: string): Draft | null {
  try {
    const stored = JSON.parse(tab.getItem(NAME) ?? 'null') as Stored | null;
    if (stored === null) return null;
    if (stored.owner !== owner) {
      tab.removeItem(NAME);
      return null;
    }
    const { draft } = stored;
    const fresh = newDraft();
    return { ...fresh, ...draft, settings: { ...fresh.settings, ...draft.settings } };
  } catch {
    return null;
  }
}
