/** Valid unquoted names in a type. */
const PROPERTY_NAME = /^[A-Za-z_$][\w$]*$/;

/** Line ends, invisible characters and changes of direction, which must not enter a comment. */
const HIDDEN = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]+/gu;

/** One line of plain text up to a length; may be empty. */
export function plainLine(text: string, most: number): string {
  const line = text
    .slice(0, most * 4)
    .replace(HIDDEN, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}

/** A comment with any text; empty without text. */
export function commentOf(text: string, most: number): string {
  // Cutting may leave a lone surrogate.
  const line = plainLine(text, most).replaceAll('*/', '* /').toWellFormed();
  return line === '' ? '' : `/** ${line} */`;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/** A literal of TypeScript in which every character can be seen. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'))
      .map((digits) => `\\u${digits}`)
      .join(''),
  );
}

/** A name before a colon or a parenthesis. `new(…)` would mean something else. */
export const nameOf = (name: string): string => (PROPERTY_NAME.test(name) && name !== 'new' ? name : quote(name));
