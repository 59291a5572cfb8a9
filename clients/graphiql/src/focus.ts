import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Hands the focus on to the results if the part of the page that has it goes away, as a list does with the question that is
 * chosen in it: a browser would begin at the top of the page again.
 */
export function useFocusHandedOn(): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const part = place.current;
    return () => {
      if (part?.contains(document.activeElement) === true) requestAnimationFrame(focusResults);
    };
  }, []);
  return place;
}

/** Goes to the tab of the results that are shown, unless the focus is somewhere already. */
function focusResults(): void {
  if (document.activeElement === document.body) shownSide()?.focus();
}

/** The tab of the right side whose results are shown. */
export const shownSide = () => document.querySelector<HTMLElement>('.sides .side[aria-selected="true"]');
