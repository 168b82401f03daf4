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
    body: `${INTRO}\n\n${table(['command', 'effect', 'options'], rows)}`,
  };
}

const flagOf = (flag: string, kind: string): string => {
  if (kind === 'switch') return `--${flag}`;
  return kind === 'flag' ? `--[no-]${flag}` : `--${flag} <${kind}>`;
};

const INTRO = `Run \`bun run llm0 <command>\`; without Bun on the machine \`npx -y bun@1.4.4 run llm0 <command>\`.

- \`ADMIN_TOKEN\` holds the token. \`PORT\`, \`HOST\`, \`TLS_ENABLED\`, \`ADMIN_PORT\` and \`ADMIN_HOST\` say where the gateway is, as they do to
  the gateway; \`LLM0_URL\` names another one.
- \`--json\` prints the API's own JSON. \`--help\` after a command explains its options. \`--version\` prints the version.
- Exit codes: 0 done, 1 refused or failed, 2 wrong usage. The value \`none\` takes a limit away.`;
