import { LESSONS } from '../tabs.ts';
import { ABOUT, OF_SANDBOX, QUESTIONS } from './questions.ts';

/** The first screen as it is served, so that it is seen, and a question can be clicked, before any script has come. */
export function openingMarkup(): string {
  const questions = QUESTIONS.map(
    ({ lesson, question }) => `<li><button type="button" value="${lesson}">${question}</button></li>`,
  );
  return `<section class="opening" aria-label="Questions">
  <header class="key-bar"><h1>Country Graph</h1></header>
  <div class="graphiql-container">
    <pre aria-hidden="true">${escaped(LESSONS[0]?.query ?? '')}</pre>
    <div class="pane start">
      <h2>What is this?</h2>
      <p>${ABOUT}<span class="of-sandbox"> ${OF_SANDBOX}</span></p>
      <h2>What may I ask?</h2>
      <ul class="choices questions">${questions.join('')}</ul>
    </div>
  </div>
</section>`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
