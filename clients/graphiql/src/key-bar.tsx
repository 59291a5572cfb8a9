import { type FormEvent, useState } from 'react';
import { apiKey, isPersistent, keepKey } from './api-key.ts';
import { endpoint } from './endpoint.ts';
import { shownSide } from './focus.ts';
import { refusal } from './refusal.ts';
import type { Settings } from './settings.ts';
import { useStore } from './store.ts';

/** Takes people who come by keyboard past all that stands before it: some thirty stops. */
function focusRun(): void {
  const all = document.querySelectorAll<HTMLElement>('.graphiql-execute-button, .side-bar .run');
  [...all].find((one) => one.checkVisibility())?.focus();
}

/** The same to the results, or, before there are any, to the first question that may be asked. */
function focusResults(): void {
  (document.querySelector<HTMLElement>('.side-panel.start button') ?? shownSide())?.focus();
}

/** The field for the API key, and whether the figures are real. */
export function KeyBar({ settings: { demoKeys } }: { readonly settings: Settings }) {
  const key = useStore(apiKey);
  const persistent = useStore(isPersistent);
  const refused = useStore(refusal);
  const [isShown, setShown] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [demoName] = Object.entries(demoKeys ?? {}).find(([, demoKey]) => demoKey === key) ?? [];
  const onSubmit = (event: FormEvent) => event.preventDefault();
  return (
    <header className="key-bar">
      <button type="button" className="skip" onClick={focusRun}>
        Skip to Run
      </button>
      <button type="button" className="skip" onClick={focusResults}>
        Skip to results
      </button>
      <h1>{endpoint().title}</h1>
      <button
        type="button"
        className="key-toggle"
        aria-expanded={isOpen}
        aria-controls="key-form"
        onClick={() => setOpen(!isOpen)}
      >
        Key: {key === '' ? 'none' : refused !== null ? 'refused' : (demoName ?? 'set')}
      </button>
      <form id="key-form" data-open={isOpen} onSubmit={onSubmit} autoComplete="off">
        <label htmlFor="api-key">API key</label>
        <input
          id="api-key"
          type={isShown ? 'text' : 'password'}
          autoComplete="off"
          spellCheck={false}
          value={key}
          placeholder="sent as Authorization: Bearer …"
          onChange={(event) => keepKey(event.target.value.trim(), persistent)}
        />
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </button>
        {demoKeys !== null && (
          <select
            aria-label="Demo keys"
            value={Object.values(demoKeys).includes(key) ? key : ''}
            onChange={(event) => keepKey(event.target.value, false)}
          >
            <option value="" disabled>
              demo keys
            </option>
            {Object.entries(demoKeys).map(([name, demoKey]) => (
              <option key={name} value={demoKey}>
                {name}
              </option>
            ))}
          </select>
        )}
        <label className="remember">
          <input
            type="checkbox"
            checked={persistent}
            onChange={(event) => keepKey(key, event.target.checked)}
          />
          Remember on this device
        </label>
      </form>
      {demoKeys !== null && (
        <p className="synthetic" role="note">
          <span className="roomy">Embedded sandbox: all figures are </span>
          <strong>synthetic</strong>
          <span className="terse"> figures</span>
          <span className="roomy">.</span>
        </p>
      )}
    </header>
  );
}
