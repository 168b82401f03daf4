/** The text without the characters at its end that this takes. Each is looked at once: `+$` would begin again at every run. */
export function withoutEnd(text: string, one: RegExp): string {
  let end = text.length;
  while (end > 0 && one.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}
