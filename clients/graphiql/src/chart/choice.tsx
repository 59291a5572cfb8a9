interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly choose: (value: string) => void;
}

/** A choice of one of a few, by name. */
export function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select aria-label={label} value={value} onChange={(event) => choose(event.target.value)}>
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The same, of so few that each has a button. */
export function ButtonChoice({ label, value, options, choose }: ChoiceProps) {
  return (
    <fieldset className="buttons">
      <legend>{label}</legend>
      {options.map(([option, title]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => choose(option)}>
          {title}
        </button>
      ))}
    </fieldset>
  );
}
