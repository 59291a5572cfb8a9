/** The methods of an editor that stand-ins and those who wait for it share. */
interface Text {
  getValue(): string;
  setValue(text: string): void;
}

interface Range {
  readonly startColumn: number;
  readonly endColumn: number;
}

/**
 * Stands for an editor that is still to come, so that operations can be opened and run before. It has the methods that GraphiQL
 * and this page call, and takes all of its text for one line. Once the editor is there, it passes everything on to it.
 */
export function createStandIn(initial: string, onChange: (text: string) => void) {
  let text = initial;
  let editor: Text | null = null;
  const listeners = new Set<() => void>();
  const getValue = () => editor?.getValue() ?? text;
  const setValue = (next: string) => {
    if (editor !== null) return editor.setValue(next);
    if (next === text) return;
    text = next;
    for (const listener of listeners) listener();
    // GraphiQL sets texts in the midst of a change of its tabs.
    queueMicrotask(() => onChange(text));
  };
  const positionAt = (offset: number) => ({ lineNumber: 1, column: offset + 1 });
  const model = {
    getValue,
    setValue,
    getOffsetAt: ({ column }: { readonly column: number }) => column - 1,
    getPositionAt: positionAt,
    getFullModelRange: (): Range => ({ startColumn: 1, endColumn: getValue().length + 1 }),
    onDidChangeContent(listener: () => void) {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
  };
  const standIn = {
    getValue,
    setValue,
    getModel: () => model,
    getPosition: () => positionAt(0),
    setPosition() {},
    getSelection: () => ({ getPosition: () => positionAt(0) }),
    createDecorationsCollection: () => ({ set() {}, clear() {} }),
    updateOptions() {},
    pushUndoStop() {},
    executeEdits(_: string, edits: readonly { readonly range: Range; readonly text: string }[]) {
      for (const { range, text: put } of edits)
        setValue(getValue().slice(0, range.startColumn - 1) + put + getValue().slice(range.endColumn - 1));
    },
    hasTextFocus: () => false,
    trigger() {},
    /** Gives the text to the editor, as soon as there is one. */
    handOver(to: Text | undefined) {
      if (to === undefined || to === standIn || to === editor) return;
      editor = to;
      if (to.getValue() !== text) to.setValue(text);
    },
  };
  return standIn;
}
