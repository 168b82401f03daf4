import { type ListenSettings, readListening } from '../config/config';
import { UsageError } from './command';

type Environment = Readonly<Record<string, string | undefined>>;

/** Target and token of a command: the gateway of the same settings, unless LLM0_URL names another. */
export function targetOf(env: Environment): { readonly url: string; readonly token: string } {
  const { adminToken: token, ...listening } = readOrRefuse(env);
  const url = env.LLM0_URL?.trim() || addressOf(listening);
  if (token === undefined) {
    throw new UsageError(
      `ADMIN_TOKEN is not set: it is the token printed at the first start of the gateway (asked at ${url})`,
    );
  }
  return { url, token };
}

/** The gateway's address for a browser: LLM0_URL, or the gateway of the same settings. */
export const gatewayUrl = (env: Environment): string =>
  (env.LLM0_URL?.trim() || addressOf(readOrRefuse(env))).replace(/\/$/, '');

function readOrRefuse(env: Environment): ListenSettings {
  try {
    return readListening(env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Address for operators. */
function addressOf({ port, host, adminPort, adminHost, isTls }: Omit<ListenSettings, 'adminToken'>): string {
  const [at, on] = adminPort === undefined ? [port, host] : [adminPort, adminHost];
  if (at === 0) {
    const name = adminPort === undefined ? 'PORT' : 'ADMIN_PORT';
    throw new UsageError(
      `${name}=0 does not say where the gateway is: set LLM0_URL to the address that its start printed`,
    );
  }
  const named = on === '0.0.0.0' || on === '::' ? '127.0.0.1' : on;
  return `${isTls ? 'https' : 'http'}://${named.includes(':') ? `[${named}]` : named}:${at}`;
}
