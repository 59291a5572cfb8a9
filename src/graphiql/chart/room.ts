import { paper } from '../view.ts';

/** Height, in pixels, of all that stands above a picture. */
const ABOVE = 400;
const LEAST_ROOM = 380;

/** Height of a picture of which nothing is out of view; all that it may have on paper. */
export const roomFor = (): number =>
  paper.matches ? Number.POSITIVE_INFINITY : Math.max(LEAST_ROOM, innerHeight - ABOVE);
