// A backend that fails its test is an answer here, not an error.
import type { Backend } from '@llm0/core/backends/backend';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import { checkPath } from '@llm0/providers/transport/call-backend';
import type { BackendTable } from './backend-table';
import { probeBackend } from './probe-backends';

export interface BackendAdminOptions {
  readonly table: Pick<BackendTable, 'current' | 'isFromEnvironment'>;
  readonly vault: SecretVault;
}

/** Longest time an operator waits for a backend. */
const MAX_TEST_MS = 15_000;
const DEFAULT_PATH = '/healthz';

/** Operations on backends other than storage. */
export class BackendAdmin {
  readonly vault: SecretVault;

  constructor(private readonly options: BackendAdminOptions) {
    this.vault = options.vault;
  }

  isFromEnvironment(name: string): boolean {
    return this.options.table.isFromEnvironment(name);
  }

  fromEnvironment(): readonly Backend[] {
    const { table } = this.options;
    return [...table.current().values()].filter(({ name }) => table.isFromEnvironment(name));
  }

  /** Asks for one path, with the backend's headers. */
  async test(name: string, path = DEFAULT_PATH): ReturnType<typeof probeBackend> {
    checkPath(path.split('?', 1)[0] ?? '');
    const backend = this.options.table.current().get(name);
    if (backend === undefined) return { ok: false, detail: 'it is not there yet' };
    const timeoutMs = Math.min(backend.timeoutMs, MAX_TEST_MS);
    return probeBackend(backend, { path, timeoutMs, signal: AbortSignal.timeout(timeoutMs) });
  }
}
