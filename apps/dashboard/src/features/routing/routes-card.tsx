import { type ComponentProps, type ComponentType, type ReactNode, useState } from 'react';
import { Card } from '../../ui/card';
import type { DialogOf } from '../../ui/dialog';
import { type Failable, Failure } from '../../ui/error-state';
import { ChangeButton } from '../forms/change-button';
import { TargetFlow } from './target-flow';

/** A name and the targets behind it. */
export interface RouteLine<R> {
  readonly key: string;
  readonly name: string;
  readonly badges: ReactNode;
  readonly showWeights?: boolean;
  readonly route: R;
}

interface Props<R> {
  readonly title: string;
  readonly newLabel: string;
  readonly query: Failable;
  /** Absent while they load. */
  readonly lines: readonly RouteLine<R>[] | undefined;
  /** How much room names take. */
  readonly nameWidth: string;
  /** Of a new route: null. */
  readonly dialog: ComponentType<DialogOf<R | null>>;
  /** Above the lines. */
  readonly children: ReactNode;
}

/** Routes with the targets of each, to be made, changed and deleted. */
export function RoutesCard<R extends Pick<ComponentProps<typeof TargetFlow>, 'targets'>>(props: Props<R>) {
  const [editing, setEditing] = useState<R | 'new' | null>(null);
  const RouteDialog = props.dialog;
  return (
    <Card title={props.title} actions={<ChangeButton onClick={() => setEditing('new')}>{props.newLabel}</ChangeButton>}>
      <Failure of={props.query} />
      {props.children}
      <ul className="divide-y">
        {props.lines?.map(({ key, name, badges, showWeights, route }) => (
          <li key={key} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 py-2">
            <span className={`flex ${props.nameWidth} shrink-0 items-center gap-2`}>
              <span className="truncate font-medium">{name}</span>
              {badges}
            </span>
            <div className="min-w-0 grow basis-80">
              <TargetFlow targets={route.targets} showWeights={showWeights} />
            </div>
            <ChangeButton size="small" kind="ghost" onClick={() => setEditing(route)}>
              Edit
            </ChangeButton>
          </li>
        ))}
      </ul>
      {editing !== null && <RouteDialog of={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </Card>
  );
}
