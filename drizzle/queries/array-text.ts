/**
 * Values as the text of a Postgres array, for `unnest`: rows in arrays cost Postgres half of what they do in one JSON text.
 * Objects become JSON; what is missing or no number becomes null.
 */
export function toArrayText(values: Iterable<unknown>): string {
  let text = '';
  let [before, quoted] = ['', '""'];
  for (const value of values) {
    if (typeof value === 'string') {
      // Often that of the row before.
      if (value !== before) [before, quoted] = [value, quote(value)];
      text += `${quoted},`;
    } else if (typeof value === 'boolean' || Number.isFinite(value)) text += `${value},`;
    // JSON of JSON escapes as an array does: there are no control characters left.
    else if (typeof value === 'object' && value !== null) text += `${JSON.stringify(JSON.stringify(value))},`;
    else text += 'null,';
  }
  return `{${text.slice(0, -1)}}`;
}

const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
