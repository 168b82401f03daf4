export const joinToolName = (alias: string, name: string): string => `${alias}__${name}`;
export function splitToolName(text: string): { readonly alias: string; readonly name: string } | undefined {
  const at = text.indexOf('__');
  return at <= 0 ? undefined : { alias: text.slice(0, at), name: text.slice(at + 2) };
}
export function matchesTool(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === name;
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
