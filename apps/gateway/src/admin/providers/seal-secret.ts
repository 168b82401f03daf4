import type { SealedSecret, SecretVault } from '@llm0/core/keys/secret-vault';

const SHOWN_CHARACTERS = 4;
const MIN_HIDDEN_CHARACTERS = 12;

/** A provider's key as it is stored: sealed for its row, with the end of it for recognition. */
export function sealKey(
  vault: SecretVault,
  secret: string,
  rowId: string,
): { secret: SealedSecret; lastCharacters: string } {
  // Of a short secret nothing is shown: four characters would be much of it.
  const isLong = secret.length >= SHOWN_CHARACTERS + MIN_HIDDEN_CHARACTERS;
  return { secret: vault.seal(secret, rowId), lastCharacters: isLong ? secret.slice(-SHOWN_CHARACTERS) : '' };
}

/** Headers, which may hold secrets, sealed as a whole; their names stay readable. */
export function sealHeaders(
  vault: SecretVault,
  headers: Readonly<Record<string, string>> | null | undefined,
  rowId: string,
): { headers: SealedSecret | null; headerNames: string[] } {
  const names = Object.keys(headers ?? {});
  if (names.length === 0) return { headers: null, headerNames: [] };
  return { headers: vault.seal(JSON.stringify(headers), rowId), headerNames: names };
}
