import { findCards } from '@llm0/core/guardrails/detectors/card';
import { findEmails } from '@llm0/core/guardrails/detectors/email';
import { findIbans } from '@llm0/core/guardrails/detectors/iban';
import { findIpAddresses } from '@llm0/core/guardrails/detectors/ip-address';
import { findNationalIds } from '@llm0/core/guardrails/detectors/national-id';
import { findPhones, findPhonesOf } from '@llm0/core/guardrails/detectors/phone';
import { SECRET_DETECTORS } from '@llm0/core/guardrails/detectors/secrets';
import { foldText } from '@llm0/core/guardrails/folded-text';
import { type Detector, mergeSpans } from '@llm0/core/guardrails/span';
import type { PlantedText } from './planted-texts';

/** How often one kind of thing was found, missed, and found where it is not. */
export interface DetectorScore {
  readonly kind: string;
  readonly planted: number;
  readonly found: number;
  /** Touches nothing that was planted. */
  readonly wrong: number;
  /** Touches something that was planted, of another kind only. */
  readonly otherKind: number;
  /** Some of what was missed, and some of what was found where it is not. */
  readonly missed: readonly string[];
  readonly mistaken: readonly string[];
}

const DETECTORS: Readonly<Record<string, Detector | readonly Detector[]>> = {
  card: findCards,
  iban: findIbans,
  email: findEmails,
  key: SECRET_DETECTORS,
  national_id: findNationalIds,
  ip: findIpAddresses,
  phone: findPhones,
  local_phone: findPhones,
  /** The countries of those whose numbers are planted. */
  national_phone: findPhonesOf(['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'BR', 'SE', 'CZ', 'TR']),
};
const SHOWN = 25;
/** What is looked for in another way, too. */
const PLANTED_AS: Readonly<Record<string, string>> = { national_phone: 'local_phone' };

/** Found is what is covered from its first to its last character; wrong what touches nothing planted. */
export function measureDetectors(texts: readonly PlantedText[]): readonly DetectorScore[] {
  return Object.entries(DETECTORS).map(([kind, detectors]) => {
    const score = {
      kind,
      planted: 0,
      found: 0,
      wrong: 0,
      otherKind: 0,
      missed: [] as string[],
      mistaken: [] as string[],
    };
    for (const { text, planted } of texts) {
      const folded = foldText(text, 'width');
      const spans = mergeSpans([detectors].flat().flatMap((detector) => detector.find(folded.text, true))).map(
        ({ start, end }) => ({ start: folded.originOf(start), end: folded.endOf(end) }),
      );
      const own = planted.filter((one) => one.kind.split(':')[0] === (PLANTED_AS[kind] ?? kind));
      for (const { start, end, kind: whose } of own) {
        score.planted++;
        if (spans.some((span) => span.start <= start && span.end >= end)) score.found++;
        else score.missed.push(`${whose} ${text.slice(Math.max(0, start - 12), end + 6)}`);
      }
      for (const span of spans) {
        if (own.some(({ start, end }) => span.start < end && span.end > start)) continue;
        if (planted.some(({ start, end }) => span.start < end && span.end > start)) {
          score.otherKind++;
          continue;
        }
        score.wrong++;
        score.mistaken.push(text.slice(span.start, span.end));
      }
    }
    return { ...score, missed: score.missed.slice(0, SHOWN), mistaken: score.mistaken.slice(0, SHOWN) };
  });
}
