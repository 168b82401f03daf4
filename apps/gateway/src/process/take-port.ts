import { accessSync, constants } from 'node:fs';
import type { Config } from '../config/config';
import { ConfigError } from '../config/values';

type Address = Pick<Config, 'host' | 'port' | 'tls'>;

/** Runs what listens; throws `ConfigError` in place of what the system says. */
export function listenOrExplain<T>({ host, port, tls }: Address, listen: () => T): T {
  if (tls !== undefined) {
    requireFile('TLS_CERT_FILE', tls.certFile);
    requireFile('TLS_KEY_FILE', tls.keyFile);
  }
  try {
    return listen();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        'PORT',
        String(port),
        `another program listens there on ${host}; stop it or set another PORT`,
      );
    }
    if (code === 'EACCES')
      throw new ConfigError('PORT', String(port), 'this account may not listen there; 1024 or more is needed');
    if (code === 'EADDRNOTAVAIL' || code === 'EINVAL') {
      throw new ConfigError('HOST', host, 'this machine has no such address; 127.0.0.1 or 0.0.0.0 may be meant');
    }
    throw error;
  }
}

/** Whether the port can be had, where only others will listen there. */
export async function probePort(address: Address): Promise<void> {
  const listen = () => Bun.serve({ port: address.port, hostname: address.host, fetch: () => new Response() });
  await listenOrExplain(address, listen).stop(true);
}

function requireFile(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new ConfigError(name, path, 'a file that can be read is needed');
  }
}
