import type { ProviderConnection } from '../../provider-request';

/** Differences between text completion servers. */
export interface CompletionQuirks {
  /** Models that it continues text with. `mode`: what the price book says of them. */
  readonly serves: (model: string, mode: string | undefined) => boolean;
  readonly takesMany: boolean;
  readonly echoes: boolean;
  /** Behind the base URL. */
  readonly path: 'completions' | 'fim/completions';
  readonly baseUrl?: (connection: ProviderConnection) => string;
  /** Its fields; absent where it takes all of the format's, and passes over what it does not know. */
  readonly fields?: ReadonlySet<string>;
}

const MADE_FOR_TEXT = /-instruct(?:-|$)|^(?:davinci|babbage)-\d/;

/** Only few of the vendor's models do. Source: https://platform.openai.com/docs/api-reference/completions */
export const OPENAI_COMPLETIONS: CompletionQuirks = {
  serves: (model, mode) => mode === 'completion' || MADE_FOR_TEXT.test(model.replace(/^ft:/, '')),
  takesMany: true,
  echoes: true,
  path: 'completions',
};

/** Servers of open models continue text with all of them. */
export const OPEN_COMPLETIONS: CompletionQuirks = { ...OPENAI_COMPLETIONS, serves: () => true };
