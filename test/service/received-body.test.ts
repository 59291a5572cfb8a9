import { expect, it } from 'vitest';
import { ReceivedBody } from '../../src/service/bodies.ts';

const bodyOf = (...pieces: readonly string[]) => new ReceivedBody(pieces.map((piece) => Buffer.from(piece)));

it.each([
  { pieces: ['{"data":', '[]', '}'], text: '{"data":[]}', isSame: true },
  { pieces: ['{"data":[]}'], text: '{"data":[]}', isSame: true },
  { pieces: ['{"data":', '[1', '}'], text: '{"data":[]}', isSame: false },
  { pieces: ['{"data":', '[]', '} '], text: '{"data":[]}', isSame: false },
  { pieces: ['{"data":', '[]'], text: '{"data":[]}', isSame: false },
  { pieces: [], text: '', isSame: true },
])('a received body of $pieces is compared with $text piece by piece', ({ pieces, text, isSame }) => {
  expect(bodyOf(...pieces).equals(Buffer.from(text))).toBe(isSame);
});

it('a received body is copied in one piece, of which it keeps nothing', () => {
  const piece = Buffer.from('whole');
  const copy = new ReceivedBody([piece.subarray(0, 1), piece.subarray(1)]).copy();
  piece.fill('x');
  expect(String(copy)).toBe('whole');
});

it.each([
  ['wh', 'ol', 'e'],
  ['a who', 'le'],
  ['a', ' whole', ' one'],
  ['whol', 'whole'],
  ['w', 'h', '', 'o', 'l', 'e'],
])('a received body is searched across its pieces: %j %j %j', (...pieces) => {
  expect(bodyOf(...pieces).includes(Buffer.from('whole'))).toBe(true);
  expect(bodyOf(...pieces, 'x').includes(Buffer.from('whale'))).toBe(false);
});
