import type { Config } from '../config/config';
import type { FirstSecrets } from './first-credentials';

/** Bound ports; `adminPort` with a separate operator listener. */
export interface Ports {
  readonly port: number;
  readonly adminPort?: number | undefined;
}

/** The lines an operator (or a script) reads; `ready` is the last. */
export function printStart(config: Config, { port, adminPort }: Ports, secrets: FirstSecrets): void {
  const url = urlOf(config.tls !== undefined, config.host, port);
  const adminUrl = adminPort === undefined ? url : urlOf(config.tls !== undefined, config.adminHost, adminPort);
  console.log(`gateway: ${url}`);
  console.log(`dashboard: ${adminUrl}/`);
  if (secrets.adminToken !== undefined) console.log(`admin token: ${secrets.adminToken}`);
  if (secrets.apiKey !== undefined) {
    const model = config.demoProvider ? 'demo-chat' : 'gpt-4o-mini';
    console.log(`api key: ${secrets.apiKey}`);
    console.log(`
curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer ${secrets.apiKey}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'
`);
  }
  console.log('ready');
}

/** URL on this machine. */
function urlOf(isTls: boolean, host: string, port: number): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${isTls ? 'https' : 'http'}://${own.includes(':') ? `[${own}]` : own}:${port}`;
}
