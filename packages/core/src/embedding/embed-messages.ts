import type { EmbedFailure } from './embedder';

/** Start options of the worker. */
export interface EmbedWorkerSettings {
  /** Folder that holds `tokenizer.json`, `config.json` and `onnx/`. */
  readonly modelPath: string;
  /** Refuse texts that are not English. */
  readonly englishOnly: boolean;
}

export interface EmbedText {
  readonly id: number;
  readonly text: string;
  /** Embed the text in any language. */
  readonly anyLanguage: boolean;
}

/** A batch of texts, answered one by one, in order. */
export interface EmbedJob {
  readonly texts: readonly EmbedText[];
}

/** Ends the worker once it is not inside the model any more. */
export const END = 'end';

export type EmbedReply =
  | { readonly type: 'ready' }
  | { readonly type: 'vector'; readonly id: number; readonly vector: Float32Array; readonly tokens: number }
  | { readonly type: 'none'; readonly id: number; readonly reason: EmbedFailure }
  /** The model can't be loaded: no text will ever be embedded by this worker. */
  | { readonly type: 'broken'; readonly message: string };
