import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../errors/gateway-error';
import { closedVault, createSecretVault } from './secret-vault';

const key = (fill: number) => new Uint8Array(32).fill(fill);
const vault = createSecretVault(key(1));

describe('the vault', () => {
  test('gives back what it was given, never shows it, and seals it differently each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ maxLength: 20 }), (secret, place) => {
        const sealed = vault.seal(secret, place);
        expect(vault.open(sealed, place)).toBe(secret);
        expect(vault.seal(secret, place).bytes).not.toEqual(sealed.bytes);
        if (secret.length >= 4) expect(Buffer.from(sealed.bytes).includes(secret)).toBe(false);
      }),
    );
  });

  test('opens no secret that was changed, moved to another row, or encrypted with another key', () => {
    const sealed = vault.seal('sk-secret', 'row 1');
    for (let at = 0; at < sealed.bytes.length; at++) {
      const bytes = Uint8Array.from(sealed.bytes);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(() => vault.open({ ...sealed, bytes }, 'row 1')).toThrow();
    }
    expect(() => vault.open(sealed, 'row 2')).toThrow();
    const other = createSecretVault(key(2));
    expect(() => other.open(sealed, 'row 1')).toThrow(/not with/);
    expect(() => other.open({ ...sealed, keyId: other.keyId ?? '' }, 'row 1')).toThrow();
    expect(other.keyId).not.toBe(vault.keyId);
  });

  test('opens what earlier keys sealed, and seals with the current one only', () => {
    const rotated = createSecretVault(key(2), [key(1), key(3)]);
    expect(rotated.open(vault.seal('old', 'row 1'), 'row 1')).toBe('old');
    expect(rotated.open(createSecretVault(key(3)).seal('older', 'row 1'), 'row 1')).toBe('older');
    expect(createSecretVault(key(2)).open(rotated.seal('new', 'row 1'), 'row 1')).toBe('new');
    expect(() => rotated.open(vault.seal('old', 'row 1'), 'row 2')).toThrow();
  });

  test('without a master key nothing can be stored, and the message says what to do', () => {
    try {
      closedVault.seal('x', 'y');
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ kind: 'conflict', message: expect.stringContaining('ENCRYPTION_KEY') });
    }
    expect(() => closedVault.open(vault.seal('x', 'y'), 'y')).toThrow('ENCRYPTION_KEY');
  });
});
