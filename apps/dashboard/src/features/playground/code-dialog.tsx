import { useGatewayUrl } from '../../api/settings';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { askedTurns } from './conversation';
import { prepareBody } from './prepare-body';
import { prepareCode } from './prepare-code';
import type { Playground } from './use-playground';

interface Props {
  readonly playground: Playground;
  readonly onClose: () => void;
}

/** The request to take along: for a terminal, and for programs. */
export function CodeDialog({ playground, onClose }: Props) {
  const { draft, example, mediaOf } = playground;
  const model = draft.models[0]?.trim() || example;
  const asked = mediaOf(model);
  const { headers, body: chat } = prepareBody({ ...draft, turns: askedTurns(draft.turns) });
  const body = asked?.body ?? chat;
  const code = prepareCode({ url: useGatewayUrl(), model, body, headers, media: asked?.media });
  return (
    <Dialog
      title="Request as code"
      description="The current request, for the first model. The key is read from LLM0_API_KEY."
      onClose={onClose}
    >
      <div className="grid gap-3">
        <CodeBlock label="curl" code={code.curl} />
        <CodeBlock label="Python" code={code.python} />
        <CodeBlock label="TypeScript" code={code.typescript} />
      </div>
    </Dialog>
  );
}
