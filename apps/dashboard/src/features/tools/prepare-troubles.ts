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
      error: health.state === 'failing' ? (health.error ?? 'It does not answer.') : null,
    }));
