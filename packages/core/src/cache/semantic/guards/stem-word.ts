/** The word without its inflection; good for telling words apart, not for showing. Lower case in, lower case out. */
export function stemWord(word: string): string {
  let stem = word;
  if (stem.length > 3 && /[^su]s$/.test(stem))
    stem = /ies$/.test(stem) ? `${stem.slice(0, -3)}y` : stem.replace(/(?<=[sxz]|[cs]h)es$|s$/, '');
  if (stem.length > 5 && /ly$/.test(stem) && !/(?:ply|fly|mily|taly)$/.test(stem)) stem = stem.slice(0, -2);
  if (stem.length > 4 && stem.endsWith('ing') && /[aeiouy]/.test(stem.slice(0, -3))) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith('ed') && /[aeiouy]/.test(stem.slice(0, -2))) stem = stem.slice(0, -2);
  if (stem.length > 3) stem = stem.replace(/([^aeiou])\1$/, '$1');
  if (stem.length > 3) stem = stem.replace(/e$/, '');
  return stem.length > 2 ? stem.replace(/y$/, 'i') : stem;
}
