import { expect, it } from 'vitest';
import { pick, type ServiceBody, targetsOf } from '../../bench/race/pick.ts';
import { drawQuestions, FIRST_QUESTION } from '../../bench/race/questions.ts';
import { ROWS } from '../../bench/race/rows.ts';
import { digestOf } from '../../bench/race/settled.ts';
import { openProgram } from '../support/program.ts';

const QUESTIONS = drawQuestions(32);

it('questions of the race are the same for the same seed, others for another, and none is asked twice', () => {
  expect(drawQuestions(32)).toEqual(QUESTIONS);
  expect(drawQuestions(32, 7)).not.toEqual(QUESTIONS);
  expect(drawQuestions(4)).toEqual(QUESTIONS.slice(0, 4));
  expect(QUESTIONS[0]).toBe(FIRST_QUESTION);
  for (const row of ROWS.filter(({ letter }) => letter !== 'a')) {
    for (const shape of [row, row.plain]) expect(new Set(QUESTIONS.map(shape.ask)).size).toBe(32);
  }
});

it('questions of the race are answered by our server as by picking from the bodies of the service', async () => {
  await using program = await openProgram({});
  const { service, sandbox } = program;
  const bodyOf = async (target: string) => {
    const answer = await fetch(service.url + target, {
      headers: { authorization: `Bearer ${sandbox.keys.team}` },
    });
    return (await answer.json()) as ServiceBody;
  };
  for (const row of ROWS) {
    for (const question of [FIRST_QUESTION, QUESTIONS[5] ?? FIRST_QUESTION]) {
      const bodies = await Promise.all(targetsOf(row.letter, question).map(bodyOf));
      const { data } = await program.ask(row.ask(question));
      const right = digestOf(pick(row.letter, question, bodies));
      expect([row.letter, digestOf(data)]).toEqual([row.letter, right]);
    }
  }
});
