import type { ProviderConnection } from '../../provider-request';

/** Differences between text completion servers. */
export interface CompletionQuirks {
  /** Models with text completion. `mode`: from the price book. */
  readonly serves: (model: string, mode: string | undefined) => boolean;
  readonly takesMany: boolean;
  readonly echoes: boolean;
  /** Path after the base URL. */
  readonly path: 'completions' | 'fim/completions';
  readonly baseUrl?: (connection: ProviderConnection) => string;
  /** Supported fields; absent if it accepts all of the format's and ignores unknown ones. */
  readonly fields?: ReadonlySet<string>;
}

const MADE_FOR_TEXT = /-instruct(?:-|$)|^(?:davinci|babbage)-\d/;

/** Only few of the vendor's models support it. Source: https://platform.openai.com/docs/api-reference/completions */
export const OPENAI_COMPLETIONS: CompletionQuirks = {
  serves: (model, mode) => mode === 'completion' || MADE_FOR_TEXT.test(model.replace(/^ft:/, '')),
  takesMany: true,
  echoes: true,
  path: 'completions',
};

/** Servers of open models continue text with all of them. */
export const OPEN_COMPLETIONS: CompletionQuirks = { ...OPENAI_COMPLETIONS, serves: () => true };
