import { Popover } from 'radix-ui';
import { Button } from '../../../ui/button';
import { Chevron } from '../../../ui/icons';
import { MenuPanel } from './menu-panel';
import { moved, toggled } from './prepare-columns';

interface Props {
  readonly all: readonly string[];
  readonly nameOf: (column: string) => string;
  /** See `noRoomClass`. */
  readonly noRoomOf: (column: string) => string;
  /** Shown columns, in order. */
  readonly shown: readonly string[];
  /** null: the default columns. */
  readonly onChange: (columns: readonly string[] | null) => void;
}

/** Chooses and sorts the columns. */
export function ColumnsMenu({ all, nameOf, noRoomOf, shown, onChange }: Props) {
  const rest = all.filter((name) => !shown.includes(name));
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button>
          Columns <Chevron className="text-faint" />
        </Button>
      </Popover.Trigger>
      <MenuPanel label="Columns" className="w-64">
        <ul className="grid gap-0.5">
          {[...shown, ...rest].map((name) => {
            const at = shown.indexOf(name);
            return (
              <li key={name} className="flex items-center gap-1">
                <label className="flex min-w-0 flex-1 items-center gap-2 py-0.5">
                  <input
                    type="checkbox"
                    className="size-4 accent-(--c-accent)"
                    checked={at >= 0}
                    disabled={at >= 0 && shown.length === 1}
                    onChange={() => onChange(toggled(shown, name))}
                  />
                  <span className="truncate">{nameOf(name)}</span>
                  {at >= 0 && <span className={`text-2xs text-muted ${noRoomOf(name)}`}>no room here</span>}
                </label>
                {at >= 0 && (
                  <>
                    <Move
                      {...{ name: nameOf(name), label: 'up', isEnd: at === 0 }}
                      onClick={() => onChange(moved(shown, name, -1))}
                    />
                    <Move
                      {...{ name: nameOf(name), label: 'down', isEnd: at === shown.length - 1 }}
                      onClick={() => onChange(moved(shown, name, 1))}
                    />
                  </>
                )}
              </li>
            );
          })}
        </ul>
        <div className="mt-2 border-t pt-2">
          <Button size="small" onClick={() => onChange(null)}>
            Reset to default
          </Button>
        </div>
      </MenuPanel>
    </Popover.Root>
  );
}

interface MoveProps {
  readonly name: string;
  readonly label: 'up' | 'down';
  readonly isEnd: boolean;
  readonly onClick: () => void;
}

const Move = ({ name, label, isEnd, onClick }: MoveProps) => (
  <button
    type="button"
    aria-label={`Move ${name} ${label}`}
    disabled={isEnd}
    className="touch rounded p-1 text-faint hover:bg-hover hover:text-text disabled:opacity-30"
    onClick={onClick}
  >
    <Chevron width="12" height="12" className={label === 'up' ? 'rotate-180' : ''} />
  </button>
);
