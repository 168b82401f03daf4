// What the guards know of English, as data. A word that stands nowhere here means itself, and nothing else.

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Say nothing about what is asked; markers of roles (`from`, `to`, `than` …) count for the order of words only. */
export const FILLERS: ReadonlySet<string> = new Set(
  words(`
  a an the this that these those some any it its itself they them their theirs there here i me my mine myself we us our
  ours you your yours he she his him her one ones someone somebody anyone anybody something anything person people
  be is am are was were been being do does did doing done have has had having will would shall should can could may might
  must ll ve re s d m t ought need needs needed
  and or but so then as if while once because when whenever whether
  of to in on at for from by with into onto about within during through via upon than
  what which who whom whose how why where
  please pls kindly hi hello hey thanks thank just also too still again ever already yet now even really actually simply
  simple tell explain explained describe described know want like wish love let lets able possible way ways step steps
  process trick used question ask asks wonder wondering exactly currently
  best better good nice proper easy well usual usually generally normally
  thing things stuff own together away
  else way round am ok okay required necessary allowed permitted mean means meaning
  each every all another both
  much many up between using during possibly
  `),
);

/** May stand in one text and not in the other, whatever else differs. */
export const LIGHT: ReadonlySet<string> = new Set(
  words(`
  instruction tutorial guide example tip idea advice info information detail snippet
  number word term equation
  try trying keep keeps issue problem trouble true
  `),
);

/** May stand in one text where the other has nothing of its own: orders that a bare question leaves out. */
export const SOFT: ReadonlySet<string> = new Set(
  words(`
  translate translation express forget forgot write calculate convert turn solve find suggest define classify
  get go make come work take give show look say help happen use contain
  considered consider count call called seem appear exist include involve belong handle deal manage perform carry
  figure learn understand recognize identify determine check see notice choose pick decide prefer expect
  put bring serve offer provide
  answer result case fact matter part place point side phrase text topic subject article purpose function role job
  concept option feature value degree moment method procedure technique approach
  specific particular common typical
  normal real
  approximately roughly maybe perhaps probably nowadays basically generally
  detail difference area sequence list reason definition command statement explanation
  askedseconds askedminutes askedhours askeddays askedweeks askedmonths askedyears
  issafe isallowed islegal per equal sentence version option healthieroption
  available actual correct exact given following suitable appropriate recommended ideal typically
  suppose supposed wonder hear know
  `),
);

/** Among those two lists, what counts for itself behind a number: "three ideas" are not "three reasons". */
export const COUNTED: ReadonlySet<string> = new Set(
  words(`
  tutorial example tip idea detail snippet word term reason list answer result case fact point phrase topic article role
  concept option feature method procedure technique sentence definition command statement difference step version
  `),
);

/** Deny what follows. */
export const NEGATIONS: ReadonlySet<string> = new Set(
  words('not no never none nobody nothing nowhere neither nor without cannot except anymore'),
);

/** Words that say which part the next one plays: where they stand before other words, the answer turns around. */
export const DIRECTIONS: ReadonlySet<string> = new Set(
  words('from to than by before after over under against instead onto toward towards until'),
);
/** The same without a direction: what they lead may stand anywhere. */
export const PLACES: ReadonlySet<string> = new Set(
  words(
    'in on at for of with within during using via about since as when while if once through between per near because without among',
  ),
);
/** Markers of one meaning. */
export const MARKER_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['into', 'to'],
  ['onto', 'to'],
  ['toward', 'to'],
  ['towards', 'to'],
]);
/** Markers that may stand for each other before the same word. */
export const ALIKE_MARKERS: readonly ReadonlySet<string>[] = [
  words('in on at within during to'),
  words('for of to'),
  words('with using via by through in'),
  words('of about on in'),
  words('by of from with'),
  words('when while if as once because since'),
  words('with of'),
  words('between from'),
  words('between to'),
  words('between than'),
  words('between with'),
].map((group) => new Set(group));
/** Begin a part of their own behind a marker's words: "after the update the screen stays black". */
export const PART_OPENERS: ReadonlySet<string> = new Set(
  words(
    'the a an my your our his her their this that these i you we it they is are was were do does did can will should',
  ),
);
export const JOINTS: ReadonlySet<string> = new Set(words('and or vs versus between both nor &'));
