import type { ComponentProps, ComponentType, ReactNode } from 'react';
import { useMayChange } from '../../api/session';
import { useOpened } from '../../range/use-opened';
import { Card } from '../../ui/card';
import type { DialogOf } from '../../ui/dialog';
import { type Failable, Failure } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import { type Place, PlaceLink } from '../../ui/place-link';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { TargetFlow } from './target-flow';

/** A name and its targets. */
export interface RouteLine<R> {
  readonly key: string;
  readonly name: string;
  readonly badges: ReactNode;
  readonly showWeights?: boolean;
  /** Requests with this name. */
  readonly requests?: Place;
  readonly route: R;
}

interface Props<R> {
  readonly title: string;
  readonly what: string;
  readonly newLabel: string;
  readonly query: Failable;
  /** Absent while they load. */
  readonly lines: readonly RouteLine<R>[] | undefined;
  /** Loads the route with this key if it isn't listed. */
  readonly read: (key: string) => Promise<R | null>;
  /** Width of the name column. */
  readonly nameWidth: string;
  /** null opens the dialog for a new route. */
  readonly dialog: ComponentType<DialogOf<R | null>>;
  /** Above the lines. */
  readonly children: ReactNode;
}

/** Routes with their targets, to create, change and delete; the address holds the open one. */
export function RoutesCard<R extends Targets>(props: Props<R>) {
  const { id, open, close } = useOpened();
  const mayChange = useMayChange();
  const RouteDialog = props.dialog;
  return (
    <Card
      title={props.title}
      actions={
        <ChangeButton onClick={() => open('new')}>
          <Plus /> {props.newLabel}
        </ChangeButton>
      }
    >
      <Failure of={props.query} />
      {props.children}
      <ul className="divide-y">
        {props.lines?.map((line) => (
          <RouteRow
            key={line.key}
            line={line}
            what={props.what}
            nameWidth={props.nameWidth}
            onEdit={() => open(line.key)}
          />
        ))}
      </ul>
      {id === 'new' && mayChange && <RouteDialog of={null} onClose={close} />}
      {id !== undefined && id !== 'new' && (
        <OpenedOne
          what={props.what}
          row={props.lines?.find(({ key }) => key === id)?.route}
          isLoaded={props.lines !== undefined}
          queryKey={[props.what, id]}
          read={() => props.read(id)}
          onClose={close}
          nameOf={() => ({ resource: props.what, id })}
        >
          {(route) => <RouteDialog of={route} onClose={close} />}
        </OpenedOne>
      )}
    </Card>
  );
}

type Targets = Pick<ComponentProps<typeof TargetFlow>, 'targets'>;

interface RowProps<R> {
  readonly line: RouteLine<R>;
  readonly what: string;
  readonly nameWidth: string;
  readonly onEdit: () => void;
}

function RouteRow<R extends Targets>({ line, what, nameWidth, onEdit }: RowProps<R>) {
  const { key, name, badges, showWeights, requests, route } = line;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 py-2">
      <span className={`flex ${nameWidth} max-w-full shrink-0 flex-wrap items-center gap-x-2 gap-y-1`}>
        <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
        <ManagedMark resource={what} id={key} />
        {badges}
      </span>
      <div className="min-w-0 grow basis-80">
        <TargetFlow targets={route.targets} showWeights={showWeights} />
        {route.targets.every((target) => !target.is_configured) && (
          <p className="mt-1 text-xs text-warn">None of its targets is set up.</p>
        )}
      </div>
      {requests !== undefined && (
        <PlaceLink
          {...requests}
          className="touch-line text-xs text-muted hover:underline"
          aria-label={`Requests for ${name}`}
        >
          Requests
        </PlaceLink>
      )}
      <ChangeButton size="small" kind="ghost" aria-label={`Edit ${name}`} onClick={onEdit}>
        Edit
      </ChangeButton>
    </li>
  );
}
