import type { Span } from '../span';

/** Text after `password =`, as people and programs write it. */
const NAMES = 'passw(?:or)?d|passwort|passphrase|pwd|contraseña|mot de passe|密码|密碼|пароль|_pass|(?<![a-z])pw';
const MARK = '(?:=>|:=|={1,2}|:)';
/** Includes options (`--password X`, `-u name:X`) and elements (`<password>X`). */
const NAMED = new RegExp(
  `(?:(?:${NAMES})["'\`]?\\s{0,2}${MARK}|(?<![a-z])pass["'\`]?\\s{0,2}={1,2}|--password(?=\\s)|<password>|(?<![\\w-])(?:-u|--user)[ =]{1,2}["']?[\\w.@-]{1,32}:)\\s{0,2}["'\`]?`,
  'gi',
);
const WORD = /pass|pwd|contrase|密[码碼]|пароль|pw|-u/i;
const LEAST = 6;
const MOST = 128;
/** A place for one, a path, or a piece of a program. */
const NO_PASSWORD = /^(?:[/~$%<{[(.*]|https?:|sha\d|\d{1,3}$)|[(){}[\]<>;`]|\.(?:env|get)|_(?:env|ENV)\b/;
/** Next setting of a connection string: `Password=X;Encrypt=True`. */
const NEXT_SETTING = /;[a-z]{1,32}=/i;
const isEnding = (code: number): boolean =>
  code <= 32 || code === 34 || code === 39 || code === 60 || code === 62 || code === 96;

/** Passwords that are called so: letters and digits, up to the next blank or quote. */
export function* namedPasswords(text: string, isEnd: boolean): Generator<Span> {
  if (!WORD.test(text)) return;
  for (const { 0: name, index } of text.matchAll(NAMED)) {
    const start = index + name.length;
    let end = start;
    while (end < text.length && end - start <= MOST && !isEnding(text.charCodeAt(end))) end++;
    if (end === text.length && !isEnd) continue;
    const shown = text.slice(start, end);
    const next = NEXT_SETTING.exec(shown)?.index ?? shown.length;
    const said = shown.slice(0, next).replace(/[.,;:!?]{1,3}$/, '');
    if (said.length < LEAST || said.length > MOST || NO_PASSWORD.test(said)) continue;
    if (/\d/.test(said) && /\p{L}/u.test(said)) yield { start, end: start + said.length, kind: 'password' };
  }
}
