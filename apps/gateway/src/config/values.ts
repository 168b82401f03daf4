import { readFileSync } from 'node:fs';

/** A setting that cannot be used: the start stops with this one line. */
export class ConfigError extends Error {
  constructor(name: string, value: string, allowed: string) {
    super(`${name}=${value}: ${allowed}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Makes fields that may be undefined optional. */
export type Settings<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
};

/** Settings that hold a secret, alone or within a URL. */
export const SECRET =
  /^(?:OTEL_EXPORTER_OTLP_HEADERS|DATABASE_URL|REDIS_URL|REDIS_PASSWORD|ADMIN_TOKEN|METRICS_TOKEN|ENCRYPTION_KEY|ENCRYPTION_KEY_PREVIOUS|EMBEDDING_SERVICE_KEY|LOG_SINKS|LOG_DATABASE_URL|OIDC_CLIENT_SECRET|SMTP_URL|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|AWS_BEARER_TOKEN_BEDROCK|[A-Z_]+_API_KEY)$/;

/** Reads typed values from an environment; every reader throws `ConfigError` for invalid text. */
export class EnvReader {
  /** Names that were asked for, set or not. */
  readonly known = new Set<string>();
  /** Allowed values of each variable, for the settings page. */
  readonly allowed = new Map<string, string>();
  /** What is set without effect, a line each. */
  readonly warnings = new Set<string>();

  constructor(private readonly env: Environment) {}

  text(name: string): string | undefined {
    this.known.add(name);
    const value = this.env[name]?.trim();
    if (value === undefined || value === '') return this.secretFile(name);
    if (this.filePath(name) !== undefined)
      this.warnings.add(`${name} and ${name}_FILE are set: ${name}_FILE is ignored`);
    return value;
  }

  /** Secrets may be in a file that `<name>_FILE` names, as Docker and Kubernetes hand them out. */
  private secretFile(name: string): string | undefined {
    const variable = `${name}_FILE`;
    const path = this.filePath(name);
    if (path === undefined) return undefined;
    const text = readSecretFile(variable, path);
    if (text === '') throw new ConfigError(variable, path, 'the file is empty');
    return text;
  }

  private filePath(name: string): string | undefined {
    const variable = `${name}_FILE`;
    const path = SECRET.test(name) ? this.env[variable]?.trim() : undefined;
    if (path === undefined || path === '') return undefined;
    this.known.add(variable);
    return path;
  }

  integer(name: string, fallback: number, range: { min: number; max: number }): number {
    this.allowed.set(name, `whole number, ${range.min} to ${range.max}`);
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < range.min || value > range.max) {
      throw new ConfigError(name, text, `a whole number from ${range.min} to ${range.max} is needed`);
    }
    return value;
  }

  /** undefined where the name is not set. */
  optionalInteger(name: string, range: { min: number; max: number }): number | undefined {
    this.allowed.set(name, `whole number, ${range.min} to ${range.max}`);
    return this.text(name) === undefined ? undefined : this.integer(name, 0, range);
  }

  flag(name: string, fallback: boolean): boolean {
    this.allowed.set(name, 'true or false');
    const text = this.text(name)?.toLowerCase();
    if (text === undefined) return fallback;
    if (['true', 't', '1', 'yes', 'on'].includes(text)) return true;
    if (['false', 'f', '0', 'no', 'off'].includes(text)) return false;
    throw new ConfigError(name, text, 'true or false is needed');
  }

  oneOf<const T extends readonly string[]>(name: string, fallback: T[number], allowed: T): T[number] {
    this.allowed.set(name, allowed.join(', '));
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (!allowed.includes(text)) throw new ConfigError(name, text, `one of ${allowed.join(', ')} is needed`);
    return text;
  }

  /** `500ms`, `30s`, `1m30s`, `2h` (as Go writes them) or plain seconds → milliseconds. */
  durationMs(name: string, fallback: string): number {
    this.allowed.set(name, 'duration');
    const text = this.text(name) ?? fallback;
    const isPlain = /^\d+(?:\.\d+)?$/.test(text);
    const parts = [...`${text}${isPlain ? 's' : ''}`.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)];
    const isWhole = parts.map(([part]) => part).join('') === `${text}${isPlain ? 's' : ''}`;
    const value = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (DURATION_UNITS_MS[unit ?? ''] ?? 0), 0);
    if (!isWhole || value <= 0 || value > 24 * 3_600_000) {
      throw new ConfigError(name, text, 'a duration such as 500ms, 30s, 1m or plain seconds is needed (up to 24h)');
    }
    return value;
  }

  /** Plain bytes, or with the suffix KiB, MiB, GiB (also k, m, g). */
  bytes(name: string, fallback: number): number {
    this.allowed.set(name, 'size');
    const text = this.text(name);
    if (text === undefined) return fallback;
    const match = /^(\d+)\s*(?:([kmg])(?:i?b)?)?$/i.exec(text);
    const value =
      match === null ? Number.NaN : Number(match[1]) * 1024 ** ' kmg'.indexOf((match[2] ?? ' ').toLowerCase());
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new ConfigError(name, text, 'a size in bytes, or with KiB, MiB, GiB, is needed');
    }
    return value;
  }

  /** An absolute http(s) URL without credentials or trailing slash. */
  url(name: string, schemes: readonly string[] = ['http:', 'https:']): string | undefined {
    this.allowed.set(name, 'URL');
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!URL.canParse(text) || !schemes.includes(new URL(text).protocol)) {
      const allowed = schemes.map((scheme) => `${scheme}//`).join(' or ');
      throw new ConfigError(name, redactUrl(text), `a URL starting with ${allowed} is needed`);
    }
    if (credentialsOf(new URL(text)) === undefined) throw new ConfigError(name, redactUrl(text), UNDECODABLE);
    return text.replace(/\/+$/, '');
  }
}

function readSecretFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw new ConfigError(variable, path, 'a file that can be read is needed');
  }
}

/** Says what is wrong with credentials of which `credentialsOf` makes nothing. */
export const UNDECODABLE = 'user and password must be percent-encoded: % as %25';

/** User and password of a URL; undefined if they aren't percent-encoded. */
export function credentialsOf({ username, password }: URL) {
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

const DURATION_UNITS_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Hides the user part of a URL, so that a wrong setting can be shown. */
export function redactUrl(text: string): string {
  return text.replace(/\/\/[^@/]*@/, '//***@');
}
