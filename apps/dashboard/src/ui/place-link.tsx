import { Link } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ComponentType, RefAttributes } from 'react';

/** A place in the dashboard. */
export interface Place {
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: object | ((before: object) => object);
  readonly state?: object;
  readonly replace?: boolean;
  readonly resetScroll?: boolean;
}

type Anchor = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & RefAttributes<HTMLAnchorElement>;

/** A link to a place that is known only at run time. The router's type would compare the searches of all pages. */
export const PlaceLink = Link as unknown as ComponentType<Place & Anchor>;
