interface Props<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** One of a few. */
export function Segmented<T extends string>({ label, options, value, onChange }: Props<T>) {
  return (
    <fieldset className="inline-flex flex-wrap rounded-md border border-line-strong p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={`h-6 rounded px-2 text-xs font-medium ${option.value === value ? 'bg-hover text-text' : 'text-muted hover:text-text'}`}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
