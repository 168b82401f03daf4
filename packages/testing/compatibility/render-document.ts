import { join } from 'node:path';
import type { ClientDriver } from './client-driver';
import { embeddingClients } from './clients/embedders';
import { COMMAND_LINE_FEATURES, COMMAND_LINES } from './command-lines/prove-command-line';
import { EMBEDDING_FAMILIES, EMBEDDING_FEATURES, type EmbeddingFamily, offersDimensions } from './embeddings';
import { FEATURES } from './features';
import { type Cell, CLIENTS, cellOf, FAMILIES, familiesOf } from './matrix';

export const DOCUMENT = join(import.meta.dir, '../../../docs/reference/compatibility.md');

/** Cells that did not hold, by `cellName`; the document is written only when there are none. */
export type Failures = ReadonlySet<string>;

export function cellName(client: string, family: string, feature: string): string {
  return `${client}, ${family}: ${feature}`;
}

const HEAD = `# Which clients work with which models

Tested combinations of clients, models and features. Each ✓ is a test of \`bun run test\`: an unmodified client library calls a gateway
process, and fakes answer in every provider's own format. \`bun run compatibility\` writes this file; a test fails when it is stale.

| column | tests |
|---|---|
| plain, stream | words with Unicode, token counts; streams arrive in pieces |
| tools, parallel tools | calls with arguments, returned results, whole conversations, plain and streamed |
| structured output | a parsed answer by a JSON schema |
| image | the picture reaches the provider |
| reasoning | requests thinking, and shows it beside the answer, plain and streamed |
| abort | leaving a stream cancels the provider within a second |
| error | a refusal keeps its status; a broken stream raises an error |
| agent loop, object loop | the library runs tools step by step, up to a text (plain, streamed) or an object |

✓ tested · ✗ not offered: 400 \`unsupported_parameter\`, also tested · – not a feature of the client
`;

/** The whole of docs/reference/compatibility.md; deterministic. */
export function renderDocument(failures: Failures = new Set()): string {
  const notes = new Notes();
  const sections = CLIENTS.map((driver) => renderClient(driver, notes, failures));
  return [
    HEAD,
    renderCommandLines(failures),
    ...sections,
    renderEmbeddings(failures),
    '## Notes\n',
    ...notes.texts.map((text, index) => `${index + 1}. ${text}`),
    '',
  ].join('\n');
}

/** Numbers each text once. */
class Notes {
  readonly texts: string[] = [];

  mark(text: string): string {
    if (!this.texts.includes(text)) this.texts.push(text);
    return ` [${this.texts.indexOf(text) + 1}](#notes)`;
  }
}

function renderClient(driver: ClientDriver, notes: Notes, failures: Failures): string {
  const { name, library, api } = driver;
  const families = FAMILIES.filter((family) => cellOf(driver, family, 'plain').kind !== 'not applicable');
  const columns = FEATURES.filter((feature) =>
    families.some((family) => cellOf(driver, family, feature).kind !== 'not applicable'),
  );
  const rows = families.map((family) => [
    `${family.name}`,
    ...columns.map((feature) => {
      const hasFailed = failures.has(cellName(name, family.name, feature));
      return hasFailed ? 'FAILED' : showCell(cellOf(driver, family, feature), notes);
    }),
  ]);
  return `## ${name}\n\n${library}, at \`${api}\`\n\n${table(['models', ...columns], rows)}`;
}

function showCell(cell: Cell, notes: Notes): string {
  if (cell.kind === 'not applicable') return '–';
  if (cell.kind === 'not offered') return `✗${notes.mark(cell.fact.reason)}`;
  return cell.note === undefined ? '✓' : `✓${notes.mark(cell.note.reason)}`;
}

const COMMAND_LINES_HEAD = `## Agents in the terminal

Each is the npm program in its own process, with the gateway's address, a key and a model. It prints the model's words (plain), shows them
as they arrive (stream; Codex and opencode print whole messages), and runs its own tools with results for the model (tools; Codex's with a
namespace). See [coding agents and SDKs](../guides/clients/README.md) for the setup.
`;

function renderCommandLines(failures: Failures): string {
  const programs = COMMAND_LINES.map(({ name, requirement, api }) => {
    const at = requirement.lastIndexOf('@');
    return `- ${name}: \`${requirement.slice(0, at)}\` ${requirement.slice(at + 1)}, at \`${api}\``;
  });
  const rows = COMMAND_LINES.flatMap((program) =>
    familiesOf(program).map((family) => [
      program.name,
      family.name,
      ...COMMAND_LINE_FEATURES.map((feature) =>
        failures.has(cellName(program.name, family.name, feature)) ? 'FAILED' : '✓',
      ),
    ]),
  );
  return `${COMMAND_LINES_HEAD}\n${programs.join('\n')}\n\n${table(['program', 'models', ...COMMAND_LINE_FEATURES], rows)}`;
}

function renderEmbeddings(failures: Failures): string {
  const clients = embeddingClients.map(({ name, library }) => `- ${name}: ${library}`).join('\n');
  const rows = embeddingClients.flatMap(({ name }) =>
    EMBEDDING_FAMILIES.map((family) => [
      name,
      `${family.name}`,
      ...EMBEDDING_FEATURES.map((feature) =>
        failures.has(cellName(name, family.name, feature)) ? 'FAILED' : showEmbeddingCell(family, feature),
      ),
    ]),
  );
  const head = '## Embeddings\n\nVectors are compared float by float, at `/v1/embeddings`. The built-in model has 384 ';
  return `${head}dimensions and refuses others.\n\n${clients}\n\n${table(['client', 'models', ...EMBEDDING_FEATURES], rows)}`;
}

function showEmbeddingCell(family: EmbeddingFamily, feature: (typeof EMBEDDING_FEATURES)[number]): string {
  return feature === 'dimensions' && !offersDimensions(family) ? '✗' : '✓';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')}\n`;
}
