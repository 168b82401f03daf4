import { readFile } from 'node:fs/promises';
import { SecretMissing } from './secret-reference';

/** Source: https://developer.hashicorp.com/vault/api-docs/secret/kv */
export interface VaultSettings {
  readonly address: string;
  readonly namespace?: string | undefined;
  readonly token?: string | undefined;
  /** A file that an agent keeps fresh. */
  readonly tokenFile?: string | undefined;
  /** Role for the pod's own identity, where no token is given. */
  readonly role?: string | undefined;
  /** Mount of the Kubernetes auth method. */
  readonly authPath: string;
  /** The pod's own token. */
  readonly identityFile: string;
}

export interface VaultSecret {
  readonly fields: unknown;
  readonly expiresAtMs: number | undefined;
}

interface VaultAnswer {
  readonly data?: { readonly data?: unknown; readonly metadata?: unknown } | null;
  readonly lease_id?: string;
  readonly lease_duration?: number;
  readonly auth?: { readonly client_token?: string; readonly lease_duration?: number } | null;
  readonly errors?: readonly string[];
}

/** `secret/data/shop` rather than `kv/shop`: a mount that keeps versions. */
const VERSIONED = /^[^/]+\/data\//;
const NOT_FOUND = 404;

class VaultRefusal extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Reads secrets of one Vault server. Versioned secrets are under `<mount>/data/<path>`, as in its API. */
export class VaultReader {
  private login: { readonly token: string; readonly untilMs: number } | undefined;

  constructor(
    private readonly settings: VaultSettings,
    private readonly fetch: typeof globalThis.fetch,
  ) {}

  async read(path: string, signal: AbortSignal): Promise<VaultSecret> {
    const answer = await this.askAsUser(encodePath(path), signal).catch((error: unknown) => {
      throw isMissing(error) ? new SecretMissing(`Vault has no secret at ${path}`) : error;
    });
    const { data, lease_id: lease = '', lease_duration: seconds = 0 } = answer;
    const isVersioned = typeof data?.data === 'object' && data.metadata !== undefined;
    const expiresAtMs = lease === '' || seconds === 0 ? undefined : Date.now() + seconds * 1000;
    return { fields: isVersioned ? data.data : data, expiresAtMs };
  }

  /** Adds fields. Of two writers at once, one fails where the mount keeps versions. */
  async write(path: string, added: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const at = encodePath(path);
    const present = await this.askAsUser(at, signal).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      return { data: null };
    });
    if (!VERSIONED.test(path)) {
      await this.askAsUser(at, signal, JSON.stringify({ ...present.data, ...added }));
      return;
    }
    const { data: fields, metadata } = (present.data ?? {}) as {
      data?: object | null;
      metadata?: { version?: number };
    };
    const options = { cas: metadata?.version ?? 0 };
    await this.askAsUser(at, signal, JSON.stringify({ data: { ...fields, ...added }, options }));
  }

  private async askAsUser(path: string, signal: AbortSignal, body?: string): Promise<VaultAnswer> {
    const reusesLogin = this.login !== undefined;
    try {
      return await this.ask(path, signal, { token: await this.tokenNow(signal), body });
    } catch (error) {
      // The token of an earlier login may be revoked.
      if (!(error instanceof VaultRefusal && error.status === 403 && reusesLogin)) throw error;
      this.login = undefined;
      return this.ask(path, signal, { token: await this.tokenNow(signal), body });
    }
  }

  private async tokenNow(signal: AbortSignal): Promise<string> {
    const { token, tokenFile, role } = this.settings;
    if (tokenFile !== undefined) return (await readFile(tokenFile, 'utf8')).trim();
    if (token !== undefined) return token;
    if (role !== undefined) return this.logIn(role, signal);
    throw new Error('VAULT_TOKEN, VAULT_TOKEN_FILE or VAULT_ROLE is needed beside VAULT_ADDR');
  }

  private async logIn(role: string, signal: AbortSignal): Promise<string> {
    if (this.login !== undefined && this.login.untilMs > Date.now()) return this.login.token;
    const { authPath, identityFile } = this.settings;
    const body = JSON.stringify({ role, jwt: (await readFile(identityFile, 'utf8')).trim() });
    const { auth } = await this.ask(`auth/${encodePath(authPath)}/login`, signal, { body });
    if (auth?.client_token === undefined) throw new Error(`Vault gave no token for the role ${role}`);
    const leaseMs = (auth.lease_duration ?? 0) * 1000;
    this.login = { token: auth.client_token, untilMs: Date.now() + 0.8 * leaseMs };
    return this.login.token;
  }

  private async ask(path: string, signal: AbortSignal, { token, body }: { token?: string; body?: string | undefined }) {
    const { address, namespace } = this.settings;
    if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) throw new Error('VAULT_ADDR is no http(s) URL');
    const response = await this.fetch(`${address.replace(/\/+$/, '')}/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-vault-request': 'true',
        ...(token === undefined ? {} : { 'x-vault-token': token }),
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal,
    });
    const answer = (await response.json().catch(() => ({}))) as VaultAnswer;
    if (response.ok) return answer;
    const said = answer.errors?.join('; ').slice(0, 200) || response.statusText;
    throw new VaultRefusal(`Vault answered ${response.status} to ${path}: ${said}`, response.status);
  }
}

const isMissing = (error: unknown): boolean => error instanceof VaultRefusal && error.status === NOT_FOUND;

const encodePath = (path: string): string => path.split('/').filter(Boolean).map(encodeURIComponent).join('/');
