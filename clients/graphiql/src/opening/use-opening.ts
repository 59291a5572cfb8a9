import { useEffect, useState } from 'react';
import { lastExchange } from '../exchange.ts';
import { shownSide } from '../focus.ts';
import { useStore } from '../store.ts';
import { useAsk } from '../tools.ts';
import { early } from './early.ts';

/** Longest time, in milliseconds, in which the page draws an answer that it has. */
const DRAWN_MS = 3_000;

/** Selects the picture, table or error that comes of a question. */
const DRAWN = '.side-panel :is(.frame svg, .table, .fault)';

/** Takes over from the page as it was served, with the question that somebody has asked there. */
export function useOpening(): void {
  const ask = useAsk();
  const [asked, setAsked] = useState<string | null>(null);
  const exchange = useStore(lastExchange);
  const isAnswered = asked !== null && exchange?.operation.query === asked;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a page
  useEffect(() => {
    const question = early.get();
    if (question === null) return closeOpening();
    early.set(null);
    setAsked(question.query);
    ask({ query: question.query });
  }, []);
  useEffect(() => {
    if (!isAnswered) return;
    const close = () => {
      watched.disconnect();
      clearTimeout(timer);
      requestAnimationFrame(closeOpening);
    };
    const watched = new MutationObserver(() => {
      if (document.querySelector(`#root ${DRAWN}`) !== null) close();
    });
    watched.observe(document.body, { childList: true, subtree: true });
    const timer = setTimeout(close, DRAWN_MS);
  }, [isAnswered]);
}

function closeOpening(): void {
  const opening = document.querySelector('.opening');
  const hasFocus = opening?.contains(document.activeElement) ?? false;
  opening?.remove();
  // Moves the focus to the answer for people who came by keyboard.
  if (hasFocus) shownSide()?.focus();
}
