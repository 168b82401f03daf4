import { describe, expect, test } from 'bun:test';
import * as registry from '@opentelemetry/semantic-conventions/incubating';
import { ATTR, BEFORE, isFraction, METRIC, OWN, providerName } from './names';

const valuesOf = (prefix: string) =>
  new Set(
    Object.entries(registry)
      .filter(([name]) => name.startsWith(prefix))
      .map(([, value]) => value as unknown),
  );

describe('names on the wire', () => {
  const attributes = valuesOf('ATTR_');
  test.each(Object.values(ATTR))('%s is in the published registry', (name) => {
    expect(attributes.has(name)).toBe(true);
  });

  test.each(Object.values(BEFORE))('%s was in it', (name) => expect(attributes.has(name)).toBe(true));

  const metrics = valuesOf('METRIC_');
  test.each(Object.values(METRIC))('the metric %s is in it', (name) => expect(metrics.has(name)).toBe(true));

  test('our names have our namespace', () => {
    expect(Object.values(OWN).filter((name) => !name.startsWith('llm0.'))).toEqual([]);
    expect(new Set(Object.values(OWN)).size).toBe(Object.values(OWN).length);
    const isNamespace = (name: string) => Object.values(OWN).some((other) => other.startsWith(`${name}.`));
    expect(Object.values(OWN).filter(isNamespace)).toEqual([]);
  });

  test('amounts, times and shares are fractions, counts are not', () => {
    const fractions = Object.values(OWN).filter(isFraction);
    expect(fractions).toEqual(Object.values(OWN).filter((name) => /_(usd|ms|similarity)\.?$/.test(name)));
    expect(Object.values(ATTR).filter((name) => isFraction(name) && name.startsWith('gen_ai.usage.'))).toEqual([]);
  });

  test('providers are called what the conventions call them', () => {
    const known = valuesOf('GEN_AI_PROVIDER_NAME_VALUE_');
    const ours = ['openai', 'anthropic', 'gemini', 'bedrock', 'azure', 'mistral', 'xai', 'groq', 'deepseek'];
    expect(ours.map(providerName).filter((name) => !known.has(name))).toEqual([]);
    expect([providerName('my-own'), providerName('constructor')]).toEqual(['my-own', 'constructor']);
  });
});
