import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const AUDIENCE = 'gateway';

export interface TokenIssuer {
  readonly issuer: string;
  /** How often its public keys were asked for. */
  readonly asked: () => number;
  /** When they were asked for last, by `performance.now()`. */
  readonly askedAtMs: () => number;
  /** A token that is good for ten minutes; `claims` override. */
  sign(claims: JWTPayload, options?: { readonly kid?: string }): Promise<string>;
  /** From now on it signs with another key. */
  rotate(): Promise<void>;
  /** The public key as text, which a careless check takes for a shared secret. */
  readonly publicText: () => string;
  close(): Promise<void>;
}

/** An issuer that only signs tokens, such as a cluster or a CI system, on a free port. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  const keys: { readonly kid: string; readonly jwk: JWK; readonly privateKey: CryptoKey }[] = [];
  let asked = 0;
  let askedAtMs = 0;
  const rotate = async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = crypto.randomUUID();
    keys.unshift({ kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } });
  };
  await rotate();
  const address = { issuer: '' };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/.well-known/openid-configuration': () => Response.json({ ...address, jwks_uri: `${address.issuer}/keys` }),
      '/keys': () => {
        asked += 1;
        askedAtMs = performance.now();
        return Response.json({ keys: keys.map(({ jwk }) => jwk) });
      },
    },
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  address.issuer = issuer;
  return {
    issuer,
    asked: () => asked,
    askedAtMs: () => askedAtMs,
    rotate,
    publicText: () => JSON.stringify(keys[0]?.jwk),
    sign: (claims, { kid = keys[0]?.kid ?? '' } = {}) => {
      const nowS = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: AUDIENCE, iat: nowS, exp: nowS + 600, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(keys[0]?.privateKey as CryptoKey);
    },
    close: () => server.stop(true),
  };
}
