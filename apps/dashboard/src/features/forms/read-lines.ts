/** Lines with something in them. */
export const readLines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `name=value`, one a line, as an object; throws for a line that is none. */
export const readPairs = (text: string) =>
  Object.fromEntries(
    readLines(text).map((line) => {
      const cut = line.indexOf('=');
      if (cut <= 0) throw new Error(`"${line}" must be name=value`);
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
