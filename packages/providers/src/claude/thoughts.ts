import type { MessageOf } from '../translation/encode-turns';

/** An earlier thought that may go back: signed, or sealed as a whole. */
export type Thought = { readonly data: string } | { readonly text: string; readonly signature: string };

/** Only reasoning that these models signed or sealed; they refuse any other. */
export function ownThoughts({ reasoning = [] }: MessageOf<'assistant'>, formats: ReadonlySet<string>): Thought[] {
  return reasoning.flatMap(({ format, data, text = '', signature }): Thought[] => {
    if (format !== undefined && !formats.has(format)) return [];
    if (data !== undefined) return [{ data }];
    return signature === undefined ? [] : [{ text, signature }];
  });
}
