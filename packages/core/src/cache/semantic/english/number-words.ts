const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const NUMBER_WORDS: ReadonlyMap<string, number> = new Map(
  words(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
  eighteen nineteen`).map((word, value) => [word, value]),
);
export const TENS_WORDS: ReadonlyMap<string, number> = new Map(
  words('twenty thirty forty fifty sixty seventy eighty ninety').map((word, index) => [word, 20 + 10 * index]),
);
export const SCALE_WORDS: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1000],
  ['million', 1e6],
  ['billion', 1e9],
]);
export const ORDINALS: ReadonlyMap<string, number> = new Map(
  words('first second third fourth fifth sixth seventh eighth ninth tenth').map((word, index) => [word, index + 1]),
);
/** Upper case only; `I` is a pronoun, `V`, `X`, `C` … are names. */
export const ROMAN_NUMERALS: ReadonlyMap<string, number> = new Map([
  ['II', 2],
  ['III', 3],
  ['IV', 4],
  ['VI', 6],
  ['VII', 7],
  ['VIII', 8],
  ['IX', 9],
]);

export const DATE_WORDS: ReadonlySet<string> = new Set(
  words(`monday tuesday wednesday thursday friday saturday sunday weekday weekend january february march april june july
  august september october november december today tomorrow yesterday tonight morning noon afternoon evening night midnight
  am pm spring summer autumn winter quarter century q1 q2 q3 q4`),
);
export const SHORT_DATE_WORDS: ReadonlyMap<string, string> = new Map(
  [
    ...words('mon:monday tue:tuesday tues:tuesday wed:wednesday thu:thursday thurs:thursday fri:friday'),
    ...words('jan:january feb:february mar:march apr:april jun:june jul:july aug:august sept:september sep:september'),
    ...words('oct:october nov:november dec:december fall-season:autumn'),
  ].map((pair): [string, string] => [pair.split(':')[0] ?? '', pair.split(':')[1] ?? '']),
);

export const UNITS: ReadonlySet<string> = new Set(
  words(`meter kilometer centimeter millimeter mile foot inch yard kilogram gram pound ounce tonne stone liter milliliter
  gallon pint quart cup celsius fahrenheit kelvin percent dollar euro sterling yen hour minute second-unit day week month
  year decade kmps kilobyte megabyte gigabyte terabyte byte bit watt volt ampere joule calorie knot mph kmh acre hectare`),
);
