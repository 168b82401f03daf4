/** Phrases that become one word, or fall away, before words are looked at; each only where the text has one of its hints. */
const PHRASES: readonly (readonly [pattern: RegExp, word: string, hints: string])[] = [
  [
    /\b(?:is|was|are|were) (?:it|there) (?:also )?(?:possible|a way|any way) (?:to|for me to)\b/g,
    'can i',
    'possible|way to|way for',
  ],
  [/\bam i able to\b/g, 'can i', 'am i able'],
  [
    /\b(?:can|could|would|will) you (?:please )?(?:tell|show|explain|give|help|write|list|recommend|open|describe)\b/g,
    ' ',
    ' you ',
  ],
  [/\b(?:i want to|i would like to|i'd like to|i need to) know\b/g, ' ', ' know'],
  [/\b(?:is it|am i) (?:required|necessary|mandatory|obliged|obligatory)(?: for me)? to\b/g, 'must i', 'is it |am i '],
  [/^(?:please )?(?:list|name|enumerate)\b(?! (?:\w+ )?(?:of|is)\b)/g, ' ', 'list|name|enumerate'],
  // The unit is asked for, but not the length of something else.
  [
    /\bhow many (seconds|minutes|hours|days|weeks|months|years) (?=(?:does|do|did|will|would|should|must|is it|it takes|to)\b)/g,
    'how long asked$1 ',
    'how many',
  ],
  [/\bone-(?=\p{L})/gu, '1 ', 'one-'],
  // Not "turn left on …": what is turned on stands between.
  [
    /\b(?:turn|switch)(?:ed|ing|s)?((?: (?!to|into|from|left|right|over|around)\p{L}+){1,4}?) on(?= *[?.!,]| *$| (?:for|in|at|when|again)\b)/gu,
    'enable$1',
    'turn|switch',
  ],
  [
    /\b(?:turn|switch)(?:ed|ing|s)?((?: (?!to|into|from|left|right|over|around)\p{L}+){1,4}?) off(?= *[?.!,]| *$| (?:for|in|at|when|again)\b)/gu,
    'disable$1',
    'turn|switch',
  ],
  [/\b(?:turn|switch)(?:ed|ing|s)? (?:it |this )?on\b/g, 'enable', 'turn|switch'],
  [/\b(?:turn|switch)(?:ed|ing|s)? (?:it |this )?off\b/g, 'disable', 'turn|switch'],
  [/\b(?:log|sign)(?:ged|ging|ing|s)? ?-?in(?:to)?\b/g, 'login', 'log|sign'],
  [/\b(?:log|sign)(?:ged|ging|ing|s)? ?-?out(?: of)?\b/g, 'logout', 'log|sign'],
  [/\b(?:go|goes|went|going) up\b/g, 'increase', ' up'],
  [/\b(?:go|goes|went|going) down\b/g, 'decrease', ' down'],
  [/\bset(?:ting)? up\b/g, 'establish', ' up'],
  [/\bas well as\b/g, 'and', 'as well'],
  [/\b(?:two|2)[- ]factor(?: authentication)?\b|\b2fa\b/g, 'twofactor', 'factor|2fa'],
  [/\bwi-?fi\b/g, 'wifi', 'fi'],
  [/\be-?mail( address)?\b/g, 'email', 'mail'],
  [/\b(?:capital city)\b/g, 'capital', 'capital'],
  [/\b(?:chief executive officer)\b/g, 'ceo', 'executive'],
  [/\bmt\.? /g, 'mount ', 'mt'],
  [/\bboiling (?:point|temperature)\b/g, 'boil temperature', 'boiling'],
  [/\b(?:at what|what) temperature\b/g, 'temperature', 'temperature'],
  [/\bpros and cons\b/g, 'proscons', 'pros'],
  [/\b(?:js|java script)\b/g, 'javascript', 'js|java'],
  [/\bgolang\b/g, 'go-language', 'golang'],
  [/\bin go\b/g, 'in go-language', 'in go'],
  [/\b(?:working|business|work) (days?|hours?|weeks?)\b/g, 'worktime $1', 'work|business'],
  [/\bweekdays?\b/g, 'worktime days', 'weekday'],
  // Right before a noun they say which one.
  [
    /\b(used|running|given|living) (?!to|the|an?|as|in|on|at|of|by|for|from|with|without|when|while|if|after|before|since|and|or|but|it|my|your|well|again|out|off|up|down|away|is|are|was|were)\b(?=\p{L})/gu,
    'which$1 ',
    'used|running|given|living',
  ],
  // Words that say nothing, but to those who program.
  [
    /\b(for|while|foreach|if|else|with|in|is|not|and|or) (loop|statement|clause|keyword|operator|block)s?\b/g,
    'kw$1 $2',
    'loop|statement|clause|keyword|operator|block',
  ],
  [
    /\bin terms of\b|\bon the subject of\b|\bin the end\b|\bin order to\b|\bin (?:simple|plain) (?:terms|words)\b/g,
    ' ',
    'in |on the subject',
  ],
  [/\b(?:get|getting|gets|take|taking|wash|washing)\b((?: \p{L}+){1,5}) out of\b/gu, 'remove$1 from', ' out of'],
  [/\b(?:get|getting|gets)\b((?: \p{L}+){1,5}) out(?= *[?.!,]| *$)/gu, 'remove$1', ' out'],
  [
    /\b(?:http )?(?:(?:status|error|response|reason|exit) codes?|error|status)(?= #?[a-z]?\d)/g,
    ' code ',
    'code|error|status',
  ],
  [/\b((?:http )?\d{3}) (?:(?:status|error|response)(?: codes?)?)\b/g, 'code $1', 'code|error|status|response'],
  // "Keep it from being set back" denies what "set it back" asks.
  [
    /\b(?:keep|stop|prevent|prohibit|block|save|protect)(?:s|ing)?\b([^.?!,;:]{1,60}?)\bfrom (?=(?:being|getting|ever|\p{L}+ing)\b)/gu,
    'prevent $1',
    ' from ',
  ],
  // "Use X instead of" turns "use instead of X" around.
  [/\binstead of(?= (?:in|at|on|for|when|with|if)\b| *[?.!,]| *$)/g, 'insteadbehind', 'instead of'],
  [/\b(\d{1,2}(?::\d\d)?) ?(?:o'?clock )?in the morning\b/g, '$1 am', 'morning'],
  [/\b(\d{1,2}(?::\d\d)?) ?(?:o'?clock )?in the (?:afternoon|evening)\b/g, '$1 pm', 'afternoon|evening'],
  [/\b(\d{1,2}) o'?clock\b/g, '$1', 'clock'],
  [/\b(winter|summer|spring|autumn)(?:[ -]?time| months?| season)\b/g, '$1', 'time|month|season'],
  [/\b(\d+) ?mins?\b/g, '$1 minutes', 'min'],
  [
    /\b(\d{1,2})(?:st|nd|rd|th)(?: of)? (?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*\b)/gu,
    '$1 ',
    'st|nd|rd|th',
  ],
  [
    /\b((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:-month)?)\.? (?:the )?(\d{1,2})(?:st|nd|rd|th)\b/g,
    '$1 $2',
    'st|nd|rd|th',
  ],
  [/\b(?:instead|rather)(?: of| than)(?: by| using| with| at| in| on)?\b/g, 'instead', 'instead|rather'],
  [/\bmore (?=quickly|slowly|easily|cheaply|safely|efficiently)/g, ' ', 'more '],
  [/\bweighs? more\b/g, 'heavier', 'weigh'],
  [/\bweighs? less\b/g, 'lighter', 'weigh'],
  [/\b(?:most recent|latest)\b/g, 'last', 'recent|latest'],
  [/\b(\d+|five|ten)[- ]years?[- ]olds?\b/g, 'age $1', 'year'],
  [/\b(?:km|kilomet(?:er|re)s?) ?(?:\/|per ) ?(?:s|sec|second)\b/g, 'kmps', 'km|kilomet'],
  [/\b(?:km|kilomet(?:er|re)s?) ?(?:\/|per ) ?(?:h|hr|hour)\b|\bkph\b/g, 'kmh', 'km|kilomet|kph'],
  [/\bmiles? (?:per|an) hour\b/g, 'mph', 'mile'],
  [/\b(?:vs|versus)\b\.?(?! code\b)/g, 'and compare and', 'vs|versus'],
  [/\bin comparison (?:to|with)\b|\bcompared (?:to|with)\b/g, 'than', 'compar'],
  [/\b(?:the other way (?:a)?round|vice versa)\b/g, ' ', 'other way|vice'],
  [/\bby default\b/g, 'default', 'by default'],
  [/\b(?:at most|at the most|up to)\b/g, 'maximum', 'at most|at the most|up to'],
  [/\bat least\b/g, 'minimum', 'at least'],
  [/\b(?:earlier|sooner) than\b/g, 'before', 'er than'],
  [/\blater than\b/g, 'after', 'later than'],
  [/\bsimilar to\b/g, 'like-this', 'similar to'],
  [/\b(book|film|movie|song|game|music|something) like\b/g, '$1 like-this', ' like'],
  [/['’](?:m|re|ve|ll|d)\b/g, ' ', "'|’"],
  [/\bhow to *[?.!]*$/g, 'how', 'how to'],
  [/(?:\band )?\bi (?:do not|don'?t) (?:know|understand)(?: why| how)?\b/g, ' ', 'i do'],
  [/\bsay(?:ing)? (no|yes)\b/g, 'say-$1', 'say'],
  [/\bin (ascending|descending|alphabetical|reverse) order\b/g, '$1', ' order'],
  [/\b(what|which) (?:kinds?|types?|sorts?) of\b/g, '$1', ' of'],
  [/^(?:please )?(?:show|give|tell|get|find|bring) me\b/g, ' ', ' me'],
  [/\bhow (?:do|would|can|should) (?:you|i|we|one) say\b/g, 'translate', ' say'],
  [/\bhow (?:big|large)\b/g, 'what size', 'how '],
  [/\bhow (?:hot|warm|cold)\b/g, 'what temperature', 'how '],
  [/\bno longer\b/g, 'not anymore', 'no longer'],
  [/\bcan'?t\b|\bcannot\b/g, 'can not', 'can'],
  [/\bwon'?t\b/g, 'will not', 'won'],
  [/n't\b/g, ' not', "n't"],
  [/\b(?:unable|not able|not possible) to\b/g, 'can not', 'able to|possible to'],
  [/\btwice (?:as|the)\b/g, 'double', 'twice'],
  [/\btwice\b|\btwo times\b/g, 'double', 'twice|two times'],
  [/\ba day\b/g, 'per day', 'a day'],
  [/\ba month\b/g, 'per month', 'a month'],
  [/\ba year\b/g, 'per year', 'a year'],
  [/\bdaily\b/g, 'per day', 'daily'],
  [/\bmonthly\b/g, 'per month', 'monthly'],
  [/\b(?:yearly|annually|annual)\b/g, 'per year', 'yearly|annual'],
];

const HINTED = PHRASES.map(([pattern, word, hints]) => ({ pattern, word: ` ${word} `, hints: hints.split('|') }));

/** A text in lower case with its phrases replaced. */
export function replacePhrases(text: string): string {
  let result = text;
  for (const { pattern, word, hints } of HINTED) {
    if (hints.some((hint) => result.includes(hint))) result = result.replace(pattern, word);
  }
  return result;
}
