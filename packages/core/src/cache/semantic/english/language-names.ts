/** Languages a question may ask for, human and programming, in lower case. */
export const LANGUAGE_NAMES: ReadonlySet<string> = new Set(
  `english german french spanish italian portuguese dutch swedish norwegian danish finnish polish czech russian ukrainian
  greek turkish arabic hebrew hindi urdu bengali chinese mandarin cantonese japanese korean vietnamese thai indonesian
  latin hungarian romanian bulgarian croatian serbian catalan swahili persian farsi
  python javascript typescript java kotlin rust ruby php perl scala swift haskell erlang elixir clojure lua julia sql
  html css bash powershell csharp fsharp cplusplus go-language`
    .split(/\s+/)
    .filter((name) => name !== ''),
);
