import { SAMPLES } from './samples.ts';
import { LESSONS } from './tabs.ts';
import { useOpen } from './tools.ts';

/** The lessons, to be opened again, and further operations to begin with. */
export function LessonsPane() {
  const open = useOpen();
  return (
    <>
      <p>Each opens in a tab of its own, and runs nothing until you do.</p>
      <section aria-label="The tour">
        <h2>The tour</h2>
        <ol className="choices">
          {LESSONS.map(({ name, about, query }) => (
            <li key={name}>
              <button type="button" onClick={() => open({ query })}>
                {name}
              </button>
              <span>{about}</span>
            </li>
          ))}
        </ol>
      </section>
      {SAMPLES.map(({ name, samples }) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          <ul className="choices">
            {samples.map((sample) => (
              <li key={sample.name}>
                <button type="button" onClick={() => open(sample)}>
                  {sample.name}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
