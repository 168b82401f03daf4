import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { SessionSettings } from '@llm0/core/realtime/session-facts';
import type { OpenedSession } from '../../pipeline/realtime/open-session';
import type { SessionTurns } from '../../pipeline/realtime/session-turns';
import type { Frame } from './flow';

interface Sent {
  readonly frame: Frame;
  readonly text: string;
}

/** A caller's frame of settings, as the vendor takes it. Throws for what key or project don't allow. */
export function acceptSettings(
  { part, spending }: Pick<OpenedSession, 'part' | 'spending'>,
  turns: SessionTurns,
  settings: SessionSettings,
  { frame, text }: Sent,
): Frame {
  const { model, target, protocol } = spending.session;
  // One protocol confirms no settings.
  if (protocol === 'bidi') turns.configure(settings);
  else turns.check(settings);
  if (settings.model === undefined) return frame;
  const names = [model, target.model, `${target.provider}/${target.model}`];
  if (names.includes(settings.model)) return part.withModel(text, target.model);
  throw invalidRequest('session.model', `The model of this session is "${model}". Open another one for others.`);
}
