import { lastExchange } from '../exchange.ts';
import type { Look } from '../looks.ts';
import { useStore } from '../store.ts';
import { useEdit } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { Choice } from './choice.tsx';
import type { Figure } from './figures.ts';
import { type Scope, scopeIn, withScope } from './operation-edit.ts';
import type { BarsPicture, LinesPicture, Picture } from './picture.ts';

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['ALL', 'all'],
  ['NATIONAL', 'whole countries'],
  ['PLACES', 'places'],
];

/** A picture of figures of whole countries, or of places; the whole if it has one kind alone. */
export function ofScope(picture: Picture, scope: Scope): Picture {
  if (scope === 'ALL' || picture.kind === 'values' || !hasBoth(picture)) return picture;
  const isOf = (figure: Figure) => figure.isNational === (scope === 'NATIONAL');
  const figures = picture.figures.filter(isOf);
  if (picture.kind === 'lines') {
    const lines = picture.lines.filter(({ points }) =>
      points.some(({ figure }) => figure !== null && isOf(figure)),
    );
    return { ...picture, lines, figures };
  }
  return {
    ...picture,
    figures,
    bars: picture.bars.filter(isOf),
    map: scope === 'NATIONAL' ? picture.map : null,
  };
}

function hasBoth({ figures }: Picture): boolean {
  return figures.some(({ isNational }) => isNational) && figures.some(({ isNational }) => !isNational);
}

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
