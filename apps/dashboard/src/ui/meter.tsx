/** Used share of a limit: amber from 80 %, red from 100 %. */
export function Meter({ share, label }: { readonly share: number; readonly label: string }) {
  const width = Math.min(1, Math.max(0, share));
  const tone = share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    // biome-ignore lint/a11y/useSemanticElements: the native meter cannot be styled alike in all browsers
    <div
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-1.5 w-full min-w-16 overflow-hidden rounded-full bg-hover"
    >
      <div className={`h-full rounded-full ${tone}`} style={{ width: `${width * 100}%` }} />
    </div>
  );
}
