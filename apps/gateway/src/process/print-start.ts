import type { Config } from '../config/config';
import type { FirstSecrets } from './first-credentials';

/** The lines an operator (or a script) reads; `ready` is the last. */
export function printStart(config: Config, port: number, secrets: FirstSecrets): void {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  console.log(`gateway: ${url}`);
  console.log(`dashboard: ${url}/`);
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
