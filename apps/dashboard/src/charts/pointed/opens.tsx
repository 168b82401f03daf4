/** What a click or a second touch on the part of a tooltip opens. */
export const Opens = ({ what }: { readonly what: string }) => (
  <>
    <span className="[@media(hover:none)]:hidden">Click opens </span>
    <span className="hidden [@media(hover:none)]:inline">Tap again for </span>
    {what}
  </>
);
