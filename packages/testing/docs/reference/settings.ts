import { allowedValues } from '@llm0/gateway/config/config';
import { code, type ReferencePage, table } from './table';

/** Names that are read only where another one is set. */
const REACHING = {
  ...{ REDIS_URL: 'redis://r', DATABASE_URL: 'postgres://p/d', TLS_ENABLED: 'false', ADMIN_PORT: '1' },
  ...{ BEDROCK_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
  ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://o', EMBEDDING_SERVICE_URL: 'http://e' },
};

const SECTION = /^# ── (.+?) ─+$/;
const SETTING = /^# ([A-Z][A-Z0-9_<>]*)=(\S*)(?:\s+# (.*))?$/;
const MORE = /^#\s+# (.*)$/;

interface Setting {
  readonly name: string;
  readonly example: string;
  meaning: string;
}

/** From `.env.example`, in its order; the code says what values are allowed. */
export function settingsPage(envExample: string): ReferencePage {
  const allowed = allowedValues(REACHING);
  const parts: string[] = [];
  for (const [section, settings] of readSections(envExample)) {
    const rows = settings.map(({ name, example, meaning }) => [
      code(name),
      example === '' ? '–' : code(example),
      allowed.get(name) ?? 'text',
      meaning,
    ]);
    parts.push(`## ${section.replace(/ \(\/.*/, '')}\n\n${table(['name', 'default', 'values', 'meaning'], rows)}`);
  }
  return {
    title: 'Settings',
    purpose: 'Every environment variable of the gateway, with its default and its allowed values.',
    body: `${INTRO}\n\n${parts.join('\n\n')}`,
  };
}

const INTRO = `Set variables in the environment, or in a file \`.env\` beside \`package.json\`. A wrong value stops the start with one line.

- **Durations**: \`500ms\`, \`30s\`, \`1m\`, or plain seconds. **Sizes**: bytes, or \`KiB\`, \`MiB\`, \`GiB\`.
- **Secrets from files**: \`<name>_FILE\` names a file that holds the value. It works for \`DATABASE_URL\`, \`REDIS_URL\`,
  \`REDIS_PASSWORD\`, \`ADMIN_TOKEN\`, \`METRICS_TOKEN\`, \`ENCRYPTION_KEY\`, \`ENCRYPTION_KEY_PREVIOUS\`, \`EMBEDDING_SERVICE_KEY\`,
  \`OTEL_EXPORTER_OTLP_HEADERS\`, \`LOG_SINKS\`, AWS's secrets and every \`…_API_KEY\`.
- **Misspelt names**: the start warns and names the closest setting.`;

/** Names of settings that `.env.example` explains. */
export const explainedSettings = (envExample: string): ReadonlySet<string> =>
  new Set(readSections(envExample).flatMap(([, settings]) => settings.map(({ name }) => name)));

function readSections(text: string): readonly (readonly [string, readonly Setting[]])[] {
  const sections: [string, Setting[]][] = [];
  for (const line of text.split('\n')) {
    const section = SECTION.exec(line)?.[1];
    if (section !== undefined) sections.push([section, []]);
    const settings = sections.at(-1)?.[1];
    const [, name, example = '', meaning = ''] = SETTING.exec(line) ?? [];
    if (name !== undefined) settings?.push({ name, example, meaning });
    const more = MORE.exec(line)?.[1];
    const last = settings?.at(-1);
    if (more !== undefined && last !== undefined && name === undefined) last.meaning += ` ${more}`;
  }
  return sections;
}
