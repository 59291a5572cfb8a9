import { type RefObject, useEffect, useState } from 'react';

/** Pixels below which nothing can be read in a picture. */
const MIN_WIDTH = 260;

/** Follows the width, in pixels, that a frame has for its picture; 0 until it is known. */
export function useWidth(frame: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (frame.current === null) return;
    const resized = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(MIN_WIDTH, Math.floor(entry.contentRect.width)));
    });
    resized.observe(frame.current);
    return () => resized.disconnect();
  }, [frame]);
  return width;
}
