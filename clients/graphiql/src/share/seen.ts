import { looks, setTabLook } from '../looks.ts';
import { isSideChosen, isWide, side } from '../view.ts';
import type { Seen } from './seen-text.ts';

export function seenIn(tab: string): Seen {
  return {
    side: side.get() === 'query' ? 'answer' : side.get(),
    isWide: isWide.get(),
    look: looks.get()[tab] ?? { isTable: false, pictures: {} },
  };
}

/** Shows a tab as somebody saw it who made a link. */
export function see(tab: string, seen: Seen): void {
  side.set(seen.side);
  isSideChosen.set(true);
  isWide.set(seen.isWide);
  setTabLook(tab, seen.look);
}
