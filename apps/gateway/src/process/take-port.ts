import { accessSync, constants } from 'node:fs';
import type { Config } from '../config/config';
import { ConfigError } from '../config/values';

/** Address of a listener, and the settings that define it. */
export interface Place extends Pick<Config, 'host' | 'port' | 'tls'> {
  readonly settings: { readonly port: string; readonly host: string };
}

/** The data plane's listener first; then that of the operators, where they have their own. */
export function placesOf({ host, port, adminHost, adminPort, tls }: Config): readonly [Place, Place?] {
  const main = { host, port, tls, settings: { port: 'PORT', host: 'HOST' } };
  if (adminPort === undefined) return [main];
  return [main, { host: adminHost, port: adminPort, tls, settings: { port: 'ADMIN_PORT', host: 'ADMIN_HOST' } }];
}

/** Starts a listener; throws `ConfigError` for the system's error. */
export function listenOrExplain<T>({ host, port, tls, settings }: Place, listen: () => T): T {
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
        settings.port,
        String(port),
        `another program listens there on ${host}; stop it or set another ${settings.port}`,
      );
    }
    if (code === 'EACCES')
      throw new ConfigError(settings.port, String(port), 'this account may not listen there; 1024 or more is needed');
    if (code === 'EADDRNOTAVAIL' || code === 'EINVAL') {
      throw new ConfigError(settings.host, host, 'this machine has no such address; 127.0.0.1 or 0.0.0.0 may be meant');
    }
    throw error;
  }
}

/** Throws if a port is taken; other processes will listen there. */
export async function probePorts(config: Config): Promise<void> {
  for (const place of placesOf(config)) {
    if (place === undefined) continue;
    const listen = () => Bun.serve({ port: place.port, hostname: place.host, fetch: () => new Response() });
    await listenOrExplain(place, listen).stop(true);
  }
}

function requireFile(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new ConfigError(name, path, 'a file that can be read is needed');
  }
}
