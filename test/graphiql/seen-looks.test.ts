import { expect, it } from 'vitest';
import { type Look, PLAIN } from '../../clients/graphiql/src/chart/plain-look.ts';
import { seenAsText, seenOf } from '../../clients/graphiql/src/share/seen-text.ts';

/** Another choice than the usual one, of everything that a picture has. */
const CHOSEN: Look = {
  highlight: ['Kenya'],
  focus: 'Ghana',
  removed: ['NG'],
  kind: 'ranking',
  isLog: true,
  isShared: true,
  axis: 'zero',
  measure: 'index',
  base: 2000,
  year: 2010,
  scope: 'PLACES',
};

it.each(Object.keys(PLAIN) as (keyof Look)[])('a link keeps the %s of a picture', (name) => {
  expect(CHOSEN[name]).not.toEqual(PLAIN[name]);
  const look = { isTable: false, pictures: { picture: { [name]: CHOSEN[name] } } };
  expect(seenOf(seenAsText({ side: 'picture', isWide: false, look }))?.look).toEqual(look);
});
