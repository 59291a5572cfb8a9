import { lastExchange } from '../exchange.ts';
import type { Look } from '../looks.ts';
import { useStore } from '../store.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { Choice } from './choice.tsx';
import { type Scope, scopeIn, withScope } from './operation-edit.ts';
import type { BarsPicture, LinesPicture } from './picture.ts';
import { hasBoth } from './subjects.ts';

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['ALL', 'all'],
  ['NATIONAL', 'whole countries'],
  ['PLACES', 'places'],
];

interface PlacesProps {
  readonly picture: LinesPicture | BarsPicture;
  readonly look: Look;
  readonly change: (change: Partial<Look>) => void;
}

/**
 * Chooses between figures of whole countries and of places: at no call if the answer has both; if the
 * operation asks for one of them, it is changed and run.
 */
export function Places({ picture, look, change }: PlacesProps) {
  const exchange = useStore(lastExchange);
  const editAndRun = useEdit();
  const query = exchange?.operation.query ?? '';
  const asked = trustedIdOf(query) === null ? scopeIn(query) : null;
  const isLocal = hasBoth(picture);
  if (!isLocal && (asked === null || asked === 'ALL')) return null;
  const choose = (scope: Scope) => {
    if (isLocal) change({ scope });
    else editAndRun((text, variables) => withScope(text, variables, scope));
  };
  return (
    <Choice
      label="Figures of"
      value={isLocal ? look.scope : (asked ?? 'ALL')}
      options={SCOPES}
      choose={(scope) => choose(scope as Scope)}
    />
  );
}
