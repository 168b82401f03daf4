const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const lines = (text: string): readonly (readonly string[])[] => text.trim().split('\n').map(words);

/** Words of a line are the same word. Inflections follow from the rules of `stemWord`. */
export const SYNONYMS: readonly (readonly string[])[] = lines(`
  cancel call-off
  invoice bill
  enable activate
  disable deactivate
  remove delete erase
  add append
  change update modify alter edit
  begin start commence
  end finish over stop conclude
  buy purchase
  large big huge
  small little tiny
  fast quick rapid
  maximum max largest biggest highest
  minimum min smallest lowest
  kid child children
  car automobile
  movie film
  photo picture
  shop store
  fix repair correct
  error failure
  house home
  doctor physician
  job position
  salary wage earn
  gift present
  height tall high
  distance far
  speed fast velocity
  population inhabitant inhabit live
  write author writer compose draft generate create
  arrive deliver delivery receive
  leave depart departure
  get obtain
  send transmit
  allow permit entitle
  advantage benefit
  disadvantage drawback
  cause reason
  summary summarize summarise
  convert transform turn
  see look find view
  include contain
  check verify
  expire end
  child kid
  iterate loop
  increase raise grow improve
  decrease reduce lower
  compare comparison difference different differ
  calculate compute calculation
  old age
  heavy weight weigh
  reserve book
  list enumerate
  recommend suggest recommendation suggestion
  toxic poisonous
  frequency often frequently
  license licence
  meter metre m
  kilometer kilometre km kms
  centimeter centimetre cm
  millimeter millimetre mm
  mile mi
  foot feet ft
  kilogram kilo kg kgs
  gram g
  pound lb lbs
  ounce oz
  liter litre l
  celsius °c
  fahrenheit °f
  percent %
  dollar $ usd
  euro € eur
  sterling £ gbp
  hour hr hrs
  second-unit sec secs
  kilobyte kb
  megabyte mb
  gigabyte gb
  terabyte tb
  usa us-country america
  uk britain
  mother mum mom
  father dad
  cv resume
  vacation holiday
  colour color
  kubernetes k8s
  postgres postgresql
  dehydrated dehydration
  rent renting
  allowance limit
  definition define
  rule rules
  sign symptom
  expensive costly
  cheap inexpensive
  automatic automatically
  colleague coworker
  client customer
  staff employee
  picture image
  laptop notebook
  tv television
  bike bicycle
  ill sick
  identical same
  require must
  exit quit
`);

/** Irregular forms → the word. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  lines(`
  used use
  got get
  gotten get
  made make
  went go
  gone go
  came come
  took take
  taken take
  gave give
  given give
  found find
  saw see
  seen see
  said say
  shown show
  wrote write
  written write
  sent send
  paid pay
  bought buy
  ate eat
  eaten eat
  won win
  winner win
  lost lose
  began begin
  begun begin
  fell fall
  fallen fall
  rose rise
  sold sell
  spoke speak
  spoken speak
  drove drive
  driving drive
  flew fly
  flight fly
  flights fly
  broke break
  broken break
  kept keep
  held hold
  told tell
  ran run
  running running-now
  tying tie
  dying die
  lying lie
  uses use
  read read
  built build
  born birth
  died die
  dead die
  children child
  teeth tooth
  feet foot
  mice mouse
  men man
  women woman
  wives wife
  lives live
  criteria criterion
  bigger large
  larger large
  smaller small
  faster fast
  slower slow
  cheaper cheap
  heavier heavy
  lighter light-weight
  warmer warm
  colder cold
  higher high
  longer long
  taller tall
  shorter short
  older old
  younger young
  farther far
  further far
  spelled spell
  spelt spell
  spelling spell
  drank drink
  drunk drink
  drinking drink
  dehydrated dehydration
  swiss switzerland
  german germany
  germans germany
  brazilians brazil
  american usa
  americans usa
  british uk
  briton uk
  britons uk
  french france
  italian italy
  italians italy
  spanish spain
  spaniards spain
  spaniard spain
  portuguese portugal
  dutch netherlands
  holland netherlands
  swedish sweden
  swedes sweden
  norwegian norway
  norwegians norway
  danish denmark
  danes denmark
  finnish finland
  finns finland
  polish poland
  poles poland
  czech czechia
  russian russia
  russians russia
  ukrainian ukraine
  ukrainians ukraine
  greek greece
  greeks greece
  turkish turkey
  turks turkey
  hungarian hungary
  hungarians hungary
  romanian romania
  bulgarian bulgaria
  croatian croatia
  serbian serbia
  austrian austria
  austrians austria
  belgian belgium
  belgians belgium
  irish ireland
  scottish scotland
  scots scotland
  welsh wales
  icelandic iceland
  canadian canada
  canadians canada
  mexican mexico
  mexicans mexico
  brazilian brazil
  argentinian argentina
  argentine argentina
  chilean chile
  peruvian peru
  colombian colombia
  chinese china
  japanese japan
  korean korea
  koreans korea
  vietnamese vietnam
  thai thailand
  indian india
  indians india
  pakistani pakistan
  indonesian indonesia
  australian australia
  australians australia
  egyptian egypt
  egyptians egypt
  israeli israel
  kenyan kenya
  nigerian nigeria
  moroccan morocco
  persian iran
  iranian iran
  californian california
  californians california
  parisian paris
  `).map(([from = '', to = '']) => [from, to]),
);
