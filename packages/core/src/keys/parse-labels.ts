const NAME = /^[a-z0-9][a-z0-9._-]*$/;

/** `team=search, env=prod` as people type it; undefined where a part is no name and value. Values may have a `=`. */
export function parseLabels(text: string): Record<string, string> | undefined {
  const labels: Record<string, string> = {};
  for (const part of text.split(',')) {
    const cut = part.indexOf('=');
    const [name, value] = [part.slice(0, Math.max(0, cut)).trim(), part.slice(cut + 1).trim()];
    if (!NAME.test(name) || value === '') return undefined;
    labels[name] = value;
  }
  return labels;
}
