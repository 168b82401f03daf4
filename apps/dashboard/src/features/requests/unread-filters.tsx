import { Close } from '../../ui/icons';

interface Props {
  /** `name=value`. */
  readonly unread: readonly string[];
  readonly onChange: (left: readonly string[] | undefined) => void;
}

/** Filters of the address that the list leaves out, since no request has such a value. */
export function UnreadFilters({ unread, onChange }: Props) {
  if (unread.length === 0) return null;
  const remove = (gone: string) => {
    const left = unread.filter((one) => one !== gone);
    onChange(left.length === 0 ? undefined : left);
    document.getElementById('main')?.focus({ preventScroll: true });
  };
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 text-xs text-warn">
      <span>No request can have this value, so the list ignores it:</span>
      {unread.map((one) => (
        <span key={one} className="inline-flex max-w-80 items-center gap-1 rounded-md bg-warn-soft pl-2">
          <code className="min-w-0 truncate py-1">{one}</code>
          <button
            type="button"
            aria-label={`Remove ${one}`}
            className="touch inline-flex items-center gap-0.5 rounded p-1 hover:bg-hover"
            onClick={() => remove(one)}
          >
            <Close width="12" height="12" /> Remove
          </button>
        </span>
      ))}
    </div>
  );
}
