interface Props<T extends string> {
  readonly label: string;
  /** Value → label, in this order. */
  readonly options: Readonly<Record<T, string>>;
  readonly value: T;
  readonly onChange: (value: NoInfer<T>) => void;
}

/** One of a few. */
export function Segmented<T extends string>({ label, options, value, onChange }: Props<T>) {
  return (
    <fieldset className="inline-flex flex-wrap justify-self-start rounded-md border border-line-strong p-0.5">
      <legend className="sr-only">{label}</legend>
      {(Object.keys(options) as T[]).map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
          className={`h-6 rounded max-md:h-9 max-md:min-w-10 px-2 text-xs font-medium ${option === value ? 'bg-hover text-text' : 'text-muted hover:text-text'}`}
        >
          {options[option]}
        </button>
      ))}
    </fieldset>
  );
}
