// A token is checked once and then served from memory until it ends or its issuer's settings change. Its key has the
// versions that admission compares: roles, users, projects and limits change it as they change any key.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { LRUCache } from 'lru-cache';
import type { Claims } from './claims';
import { CLOCK_TOLERANCE_S, type Issuers } from './issuers';

const MOST_KNOWN = 100_000;
/** Nobody makes the database look again and again for a token that it refused. */
const REFUSED_MS = 1000;

/** A token that was found good. */
export interface GoodToken {
  readonly provider: StoredIdentityProvider;
  readonly claims: Claims;
  /** Name or id; null = the user's own choice. */
  readonly project: string | null;
}

export interface AccessTokenOptions {
  readonly issuers: Pick<Issuers, 'keysOf'>;
  /** Hash of the key that the token stands for. Throws what the caller is told. */
  readonly place: (token: GoodToken) => Promise<string>;
  readonly nowMs: () => number;
}

interface Known {
  readonly keyHash: string;
  readonly endsMs: number;
}

/** Signed tokens (JWT) of identity providers, in place of a gateway key. */
export class AccessTokens {
  private providers: ReadonlyMap<string, StoredIdentityProvider> = new Map();
  private settings = '';
  private readonly known = new LRUCache<string, Known>({ max: MOST_KNOWN });
  private readonly refused = new LRUCache<string, Error>({ max: 10_000, ttl: REFUSED_MS });
  private readonly checking = new Map<string, Promise<Known>>();

  constructor(private readonly options: AccessTokenOptions) {}

  /** Takes the providers in use. After a change, each token is checked again. */
  load(providers: readonly StoredIdentityProvider[]): void {
    const those = providers.filter(({ jwt }) => jwt !== null);
    const settings = JSON.stringify(those);
    if (settings === this.settings) return;
    this.settings = settings;
    this.providers = new Map(those.map((provider) => [provider.issuer, provider]));
    this.known.clear();
    this.refused.clear();
  }

  /** Hash of the key that a token stands for; undefined for other secrets. */
  find(secret: string, headers: Headers): string | Promise<string> | undefined {
    if (this.providers.size === 0) return undefined;
    const project = projectIn(headers);
    const id = idOf(secret, project);
    const known = this.known.get(id);
    if (known !== undefined && known.endsMs > this.options.nowMs()) return known.keyHash;
    const refusal = this.refused.get(id);
    if (refusal !== undefined) throw refusal;
    return this.check(id, secret, project).then(({ keyHash }) => keyHash);
  }

  /** The key was refused: the next request asks why. */
  forget(secret: string, headers: Headers): void {
    this.known.delete(idOf(secret, projectIn(headers)));
  }

  private check(id: string, token: string, project: string | null): Promise<Known> {
    const running = this.checking.get(id);
    if (running !== undefined) return running;
    const { settings } = this;
    const checking = this.checkNow(token, project)
      .then((known) => {
        if (settings === this.settings) this.known.set(id, known);
        return known;
      })
      .catch((error: unknown) => {
        if (error instanceof GatewayError && error.kind !== 'store_unavailable') this.refused.set(id, error);
        throw error;
      })
      .finally(() => this.checking.delete(id));
    this.checking.set(id, checking);
    return checking;
  }

  private async checkNow(token: string, project: string | null): Promise<Known> {
    const { claims, provider } = await this.verify(token);
    const endsMs = Number(claims.exp) * 1000;
    if (endsMs <= this.options.nowMs()) throw expired();
    return { keyHash: await this.options.place({ provider, claims, project }), endsMs };
  }

  private async verify(token: string): Promise<Omit<GoodToken, 'project'>> {
    const { decodeJwt, jwtVerify, errors } = await import('jose');
    try {
      const provider = this.providers.get(String(decodeJwt(token).iss));
      if (!provider?.jwt) throw invalid('No identity provider with "jwt" has its issuer.');
      const { audience, algorithms } = provider.jwt;
      const { payload } = await jwtVerify(token, await this.keysOf(provider), {
        ...{ issuer: provider.issuer, audience, algorithms: [...algorithms], requiredClaims: ['sub', 'exp'] },
        ...{ clockTolerance: CLOCK_TOLERANCE_S, currentDate: new Date(this.options.nowMs()) },
      });
      if (!isSubject(payload.sub)) throw invalid('Its claim "sub" must be a text of 1 to 255 characters.');
      return { provider, claims: payload };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired();
      if (error instanceof errors.JWKSTimeout) throw unreachable(error);
      if (error instanceof errors.JWTClaimValidationFailed)
        throw invalid(`Its claim "${error.claim}" is missing, or isn't the one that this gateway expects.`, error);
      if (error instanceof errors.JOSEError) throw invalid(PROBLEMS[error.code] ?? UNREADABLE, error);
      throw error instanceof GatewayError ? error : unreachable(error);
    }
  }

  private keysOf(provider: StoredIdentityProvider): ReturnType<Issuers['keysOf']> {
    return this.options.issuers.keysOf(provider).catch((cause: unknown) => {
      throw unreachable(cause);
    });
  }
}

const projectIn = (headers: Headers) => headers.get('x-llm0-project') || null;

const idOf = (secret: string, project: string | null) => hashSecret(`${project ?? ''} ${secret}`);

const invalid = (why: string, cause?: unknown) =>
  new GatewayError('invalid_api_key', `This token isn't valid here. ${why}`, { cause });

const UNREADABLE = "It can't be read as a signed token (JWT).";
/** By code of the library. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "Its signature isn't the issuer's.",
  ERR_JWKS_NO_MATCHING_KEY: 'The issuer publishes no key that could have signed it.',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'It names no key ("kid"), and several keys of the issuer could have signed it.',
  ERR_JOSE_ALG_NOT_ALLOWED: 'Its algorithm isn\'t one of the "algorithms" of the identity provider.',
};

/** 401, as for OAuth, so that clients renew it. */
const expired = () => invalid('It has expired. Get a new one from your identity provider.');

function unreachable(cause: unknown): GatewayError {
  const message = "The token's issuer is unreachable. Retry shortly. Tokens that were used before continue to work.";
  return new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
}

/** OpenID Connect allows 255 characters; the database takes no NUL. */
const isSubject = (sub: unknown): boolean =>
  typeof sub === 'string' && sub !== '' && sub.length <= 255 && !sub.includes('\0');
