import { LESSONS } from '../tabs.ts';

/** An introduction to the page, before anything else. */
export const ABOUT =
  'Country Graph answers questions about 54 African countries: figures over time, markets, governments, and the sources of it all. Choose a question, or write one in GraphQL; the answer comes here, with a picture of it, its cost and its errors.';

export const OF_SANDBOX = 'This is a sandbox: its figures are made up.';

/** Lessons of the tour that people come for. */
const CHOSEN: readonly { readonly lesson: string; readonly question: string }[] = [
  { lesson: 'Map', question: 'How long do people live, country by country?' },
  { lesson: 'Over time', question: 'How have three countries fared since 1990?' },
  { lesson: 'Provenance', question: 'Where does a figure come from, and how sure is it?' },
  { lesson: 'Markets', question: 'What is listed on an exchange, and at what price?' },
];

/** Questions that one click answers. */
export const QUESTIONS = CHOSEN.map((one) => ({
  ...one,
  query: LESSONS.find(({ name }) => name === one.lesson)?.query ?? '',
}));
