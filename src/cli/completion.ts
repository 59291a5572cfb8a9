import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Completed {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** Words that its first argument may be. */
  readonly choices: readonly string[];
}

/** Writes a script that completes the program's commands and options, made from the commands themselves. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options,
    choices: command.registeredArguments[0]?.argChoices ?? [],
  }));
  const own = program.options;
  return { bash, zsh, fish }[shell](program.name(), commands, own);
}

const longNames = (options: readonly Option[]) => options.flatMap(({ long }) => long ?? []);

function bash(name: string, commands: readonly Completed[], own: readonly Option[]): string {
  const values = commands.flatMap(({ name: command, options }) =>
    options.flatMap(({ long, argChoices }) =>
      argChoices === undefined
        ? []
        : [
            `    ${command},${long}) COMPREPLY=($(compgen -W '${argChoices.join(' ')}' -- "$word")); return ;;`,
          ],
    ),
  );
  const words = commands.map(
    ({ name: command, options, choices }) =>
      `    ${command}) words='${[...choices, ...longNames(options), '--help'].join(' ')}' ;;`,
  );
  const top = [...commands.map((command) => command.name), ...longNames(own), '--help'].join(' ');
  return `_${bare(name)}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${top}' -- "$word"))
    return
  fi
  case "$command,$before" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _${bare(name)} ${name}
`;
}

function zsh(name: string, commands: readonly Completed[], own: readonly Option[]): string {
  const described = (text: string) => text.replace(/[[\]:'\\]/g, '');
  const spec = ({ long, description, required, argChoices }: Option) => {
    const value = required
      ? `:value:${argChoices === undefined ? '_files' : `(${argChoices.join(' ')})`}`
      : '';
    return `'${long}[${described(description)}]${value}'`;
  };
  const cases = commands.map(({ name: command, options, choices }) => {
    const first = choices.length > 0 ? `'1:choice:(${choices.join(' ')})'` : `'*:file:_files'`;
    return `    ${command}) _arguments ${[...options.map(spec), `'--help[display help]'`, first].join(' ')} ;;`;
  });
  const listed = commands.map((command) => `    '${command.name}:${described(command.description)}'`);
  return `#compdef ${name}
_${bare(name)}() {
  local -a commands=(
${listed.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    _arguments ${own.map(spec).join(' ')}
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _${bare(name)} ${name}
`;
}

function fish(name: string, commands: readonly Completed[], own: readonly Option[]): string {
  const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const line = (condition: string, rest: string) => `complete -c ${name} -n ${quoted(condition)} ${rest}`;
  const option = (condition: string, { long = '', description, required, argChoices }: Option) => {
    const value = argChoices === undefined ? (required ? ' -r' : '') : ` -xa ${quoted(argChoices.join(' '))}`;
    return line(condition, `-l ${long.replace(/^--/, '')}${value} -d ${quoted(description)}`);
  };
  return [
    ...own.map((one) => option('__fish_use_subcommand', one)),
    ...commands.flatMap(({ name: command, description, options, choices }) => {
      const within = `__fish_seen_subcommand_from ${command}`;
      return [
        line('__fish_use_subcommand', `-fa ${command} -d ${quoted(description)}`),
        ...(choices.length > 0 ? [line(within, `-fa ${quoted(choices.join(' '))}`)] : []),
        ...options.map((one) => option(within, one)),
      ];
    }),
    '',
  ].join('\n');
}

/** Names a function of a shell. */
function bare(name: string): string {
  return name.replaceAll('-', '_');
}
