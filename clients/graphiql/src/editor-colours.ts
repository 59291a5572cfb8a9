import { useMonaco } from '@graphiql/react';
import { useEffect } from 'react';
import { looksDark, onLooks } from './view.ts';

type Monaco = NonNullable<Parameters<Parameters<typeof useMonaco>[0]>[0]['monaco']>;

const TRANSPARENT = '#ffffff00';

/**
 * Gives GraphiQL's own themes comments, numbers and line numbers that stand out from their ground (WCAG AA),
 * also once the system changes while the page is open, or the page is printed.
 */
export function useStrongColours(): void {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    if (monaco === undefined) return;
    define(monaco);
    return onLooks(() => monaco.editor.setTheme(looksDark() ? 'graphiql-DARK' : 'graphiql-LIGHT'));
  }, [monaco]);
}

function define({ editor }: Monaco): void {
  editor.defineTheme('graphiql-LIGHT', {
    base: 'vs',
    inherit: true,
    colors: {
      ...shared('#d60590', '#ffffff', '#d6059019'),
      'editorLineNumber.foreground': '#5b6472',
      'editorLineNumber.dimmedForeground': '#5b6472',
    },
    rules: [
      { token: 'argument.identifier.gql', foreground: '5a56b8' },
      { token: 'number', foreground: '06643f' },
    ],
  });
  editor.defineTheme('graphiql-DARK', {
    base: 'vs-dark',
    inherit: true,
    colors: {
      ...shared('#ff5794', '#212a3b', '#ff579419'),
      'editorLineNumber.foreground': '#a3adbd',
      'editorLineNumber.dimmedForeground': '#a3adbd',
    },
    rules: [
      { token: 'argument.identifier.gql', foreground: 'a9a5ff' },
      { token: 'comment', foreground: '8fbf78' },
    ],
  });
}

function shared(primary: string, ground: string, tint: string): Record<string, string> {
  return {
    'editor.background': TRANSPARENT,
    'scrollbar.shadow': TRANSPARENT,
    'textLink.foreground': primary,
    'textLink.activeForeground': primary,
    'editorLink.activeForeground': primary,
    'editorHoverWidget.background': ground,
    'editorSuggestWidget.background': ground,
    'editorSuggestWidget.selectedBackground': tint,
    'editorSuggestWidget.selectedForeground': primary,
    'editorWidget.background': ground,
    'menu.background': ground,
    'list.hoverBackground': tint,
    'list.highlightForeground': primary,
    'list.focusHighlightForeground': primary,
    'quickInput.background': ground,
    'quickInputList.focusBackground': tint,
    focusBorder: primary,
  };
}
