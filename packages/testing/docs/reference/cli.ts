import { COMMANDS } from '@llm0/gateway/cli/commands';
import { code, type ReferencePage, table } from './table';

export function cliPage(): ReferencePage {
  const rows = COMMANDS.map(({ name, args = [], options = {}, summary }) => {
    const usage = [name, ...args.map((arg) => `<${arg}>`)].join(' ');
    const flags = Object.entries(options).map(([flag, { kind }]) => code(flagOf(flag, kind)));
    return [code(usage), summary, flags.length === 0 ? '–' : flags.join(' ')];
  });
  return {
    title: 'Command line',
    purpose: 'Every command of `llm0`, with its options.',
    body: `${INTRO}\n\n${table(['command', 'effect', 'options'], rows)}\n\n${valuesOfOptions()}`,
  };
}

/** Kinds without a value, or whose value the first table explains. */
const WITHOUT_VALUE = new Set(['flag', 'switch', 'project']);

/** Values, units and defaults, once for each meaning. */
function valuesOfOptions(): string {
  const nouns = new Map<string, Set<string>>();
  for (const { name, options = {} } of COMMANDS) {
    for (const [flag, { kind, help }] of Object.entries(options)) {
      if (WITHOUT_VALUE.has(kind) || flag === 'cursor') continue;
      const users = nouns.getOrInsertComputed(`${flag}\n${help}`, () => new Set());
      users.add(name.split(' ').slice(0, -1).join(' ') || name);
    }
  }
  const rows = [...nouns].map(([option, users]) => {
    const [flag = '', help = ''] = option.split('\n');
    const shown = [...users].map(code).join(' ');
    return [code(`--${flag}`), flag === 'limit' && users.size > 2 ? 'lists' : shown, help];
  });
  return `## Values, units and defaults of options\n\n${VALUES}\n\n${table(['option', 'of', 'values'], rows)}`;
}

const VALUES = `The default is in brackets. Amounts of money (\`<usd>\`) are US dollars, such as \`0.25\`. Lists are separated by commas.`;

const flagOf = (flag: string, kind: string): string => {
  if (kind === 'switch') return `--${flag}`;
  return kind === 'flag' ? `--[no-]${flag}` : `--${flag} <${kind}>`;
};

const INTRO = `Run \`bun run llm0 <command>\`; without Bun on the machine \`npx -y bun@1.4.4 run llm0 <command>\`.

- \`ADMIN_TOKEN\` holds the token. \`PORT\`, \`HOST\`, \`TLS_ENABLED\`, \`ADMIN_PORT\` and \`ADMIN_HOST\` say where the gateway is, as they do to
  the gateway; \`LLM0_URL\` names another one.
- \`--json\` prints the API's own JSON. \`--help\` after a command explains its options. \`--version\` prints the version.
- Arguments in angle brackets have no name: \`keys create shop web\`. A project or key is an id or a name.
- Exit codes: 0 done, 1 refused or failed, 2 wrong usage, or changes to make (\`plan\`). The value \`none\` takes a limit away.`;
