/**
 * Begins the page: answers a question that is clicked on the page as it was served, before GraphiQL has
 * loaded. It sends it at once, and draws its picture as soon as the answer and the code that draws are there.
 * Then comes GraphiQL.
 */
import { apiKey } from '../api-key.ts';
import { withNeededFields } from '../chart/needed-fields.ts';
import { sendEarly } from '../send.ts';
import { beginWithKey, loadSettings } from '../settings.ts';
import { early } from './early.ts';
import { QUESTIONS } from './questions.ts';

const place = document.querySelector('.opening .start');

if (place !== null) {
  const answerAsked = () => {
    const asked = QUESTIONS.find(({ lesson }) => lesson === document.documentElement.dataset.asked);
    if (asked === undefined || early.get() !== null) return;
    const { question, query } = asked;
    const hasFocus = place.contains(document.activeElement);
    const heading = Object.assign(document.createElement('h2'), { textContent: question, tabIndex: -1 });
    const status = Object.assign(document.createElement('div'), { role: 'status', textContent: 'Asking …' });
    place.replaceChildren(heading, status);
    if (hasFocus) heading.focus();
    const operation = document.querySelector('.opening pre');
    if (operation !== null) operation.textContent = query;
    early.set({ query, drawn: answer(status, query).catch(() => {}) });
  };
  // The page notes the question by itself, as soon as there is one to click.
  place.addEventListener('click', answerAsked);
  answerAsked();
}

// GraphiQL takes the processor for longer than the picture of a question that somebody waits for.
void Promise.resolve(early.get()?.drawn).then(() => import('../main.tsx'));

async function answer(onto: Element, query: string): Promise<void> {
  const settings = await loadSettings();
  beginWithKey(settings);
  // Leaves it to the page, once it is whole, to say that the key is missing.
  if (apiKey.get() === '') return;
  const sent = withNeededFields(query, undefined)?.query ?? query;
  const [{ data }, { drawFirst }] = await Promise.all([sendEarly(sent), import('./first-picture.ts')]);
  drawFirst(onto, sent, data, settings.demoKeys !== null);
  // Shows it before anything else is done.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
