// An invalid file, or a store that is away, leaves the stored configuration in force; the log says why.
import type { Logger } from 'pino';
import { AdminClient } from '../cli/admin-client';
import type { Config } from '../config/config';
import { coalesceRuns } from '../providers/coalesce-runs';

export interface ConfigApplyParts {
  readonly config: Pick<Config, 'configFile'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Opens this process's own admin API. */
  readonly token: string;
  readonly ask: (request: Request) => Response | Promise<Response>;
}

const APPLY_NAME = 'default';
const OWN_URL = 'http://localhost';

/** Applies the file of GATEWAY_CONFIG, one run at a time; never rejects. Does nothing where it is not set. */
export function createConfigApply({ config, log, token, ask }: ConfigApplyParts): () => Promise<void> {
  const { configFile } = config;
  if (configFile === undefined) return async () => {};
  const api = new AdminClient({ url: OWN_URL, token, fetch: async (url, init) => ask(new Request(url, init)) });
  const stopped = new AbortController().signal;
  const options = { ...configFile, applyName: APPLY_NAME, isPruning: false, signal: stopped };
  return coalesceRuns(async () => {
    try {
      const { applyFile } = await import('../cli/config-file/apply-file');
      const { plan, applied } = await applyFile(api, { ...options, note: (text) => log.info(text) });
      for (const note of plan.notes) log.info(note);
      const counts = { changed: applied.done.size, unchanged: plan.unchanged };
      if (applied.failure === undefined) log.info(counts, 'GATEWAY_CONFIG is applied');
      else log.error({ ...counts, reason: applied.failure }, 'GATEWAY_CONFIG is applied in part; send SIGHUP to go on');
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      log.error({ reason }, 'GATEWAY_CONFIG is not applied; the stored configuration stays in force');
    }
  });
}
