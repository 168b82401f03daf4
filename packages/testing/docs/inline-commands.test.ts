// Commands in the text of a page don't run; they still have the names, arguments and options of the code.
import { expect, test } from 'bun:test';
import { COMMANDS } from '@llm0/gateway/cli/commands';
import { proseLines, readPages } from './read-pages';
import { wordsOf } from './shell-commands';

/** Options of every command. */
const GLOBAL = new Set(['help', 'version', 'json']);

/** Commands between backticks, without the program's name. */
function inlineCommands(text: string): readonly string[] {
  const spans = [
    ...proseLines(text)
      .join('\n')
      .matchAll(/`([^`]+)`/g),
  ].map(([, span = '']) => span);
  return spans.flatMap((span) => {
    const command = /^(?:bun run )?llm0 (.+)$/s.exec(span)?.[1];
    if (command !== undefined) return [command];
    // Tables leave out the program.
    return COMMANDS.some(({ name }) => name.includes(' ') && span.startsWith(`${name} `)) ? [span] : [];
  });
}

function problemOf(text: string): string | undefined {
  const words = wordsOf(text.replaceAll('\\|', '|'));
  const line = words.join(' ');
  const known = COMMANDS.filter(({ name }) => `${line} `.startsWith(`${name} `)).sort(
    (a, b) => b.name.length - a.name.length,
  );
  const [command] = known;
  const isPart = COMMANDS.some(({ name }) => name.startsWith(`${line} `)) || /^(?:…|<|--)/.test(line);
  if (command === undefined) return isPart ? undefined : 'no such command';
  const rest = words.slice(command.name.split(' ').length);
  const options = rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/^no-/, ''));
  const unknown = options.find((name) => !GLOBAL.has(name) && command.options?.[name] === undefined);
  if (unknown !== undefined) return `no option --${unknown}`;
  const first = rest.findIndex((word) => /^-[-a-z]/.test(word) || word === '…');
  const given = (first === -1 ? rest : rest.slice(0, first)).length;
  const needed = command.args?.length ?? 0;
  // A bare name mentions the command; with arguments it has all of them.
  return given === 0 || given === needed || rest[0] === '…' ? undefined : `${needed} arguments, not ${given}`;
}

test('commands in texts have the names, arguments and options of the command line', () => {
  const wrong = readPages().flatMap(({ path, text }) =>
    inlineCommands(text).flatMap((command) => {
      const problem = problemOf(command);
      return problem === undefined ? [] : [`${path}: ${command} → ${problem}`];
    }),
  );
  expect(wrong).toEqual([]);
});
