import type { McpServer } from '../../api/tools';

export interface ServerTrouble {
  readonly id: string;
  readonly alias: string;
  readonly error: string | null;
  /** Tools that wait for approval. */
  readonly waiting: number;
}

/** Servers with problems. */
export const serverTroubles = (servers: readonly McpServer[]): readonly ServerTrouble[] =>
  servers
    .filter(({ health }) => health.state === 'failing' || (health.state !== 'inactive' && health.held_back_count > 0))
    .map(({ id, alias, health }) => ({
      ...{ id, alias, waiting: health.held_back_count },
      error: health.state === 'failing' ? wordsOf(alias, health.error) : null,
    }));

/** What goes on after the server's name; most messages begin with it. */
const wordsOf = (alias: string, error: string | null): string => {
  if (error === null) return ' does not answer.';
  return error.startsWith(`${alias} `) ? error.slice(alias.length) : `: ${error}`;
};
