import { type Command, type CommandOption, helpOption } from "./command.ts";

export const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

export const isShell = (word: string): word is Shell => shells.some((shell) => shell === word);

/** Commands by their names. */
export type NamedCommands = readonly (readonly [name: string, command: Command])[];

/** The script for a shell. It contains all completions: no program runs when a key is pressed. */
export function completionFor(shell: Shell, commands: NamedCommands): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

const optionsOf = ({ options }: Command): readonly (readonly [string, CommandOption])[] =>
  Object.entries({ ...options, help: helpOption });

/** The words that may follow a command: two for `keys create|list`. */
const wordsOf = ({ usage }: Command): readonly string[] =>
  (usage.split(" ")[1] ?? "").split("|").filter((word) => /^[a-z]+$/.test(word));

const flagsOf = (command: Command) => optionsOf(command).map(([name]) => `--${name}`);

function bash(commands: NamedCommands): string {
  const names = [...commands.map(([name]) => name), "--help", "--version"].join(" ");
  const cases = commands.map(
    ([name, command]) => `    ${name}) words="${[...wordsOf(command), ...flagsOf(command)].join(" ")}" ;;`,
  );
  return `_kibitz() {
  local words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${names}"
  else case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _kibitz kibitz
`;
}

function zsh(commands: NamedCommands): string {
  const described = commands.map(([name, { about }]) => `    ${quoted(`${name}:${about}`)}`);
  const cases = commands.map(([name, command]) => {
    const options = optionsOf(command).map(([flag, { about, type }]) =>
      quoted(`--${flag}${type === "string" ? "=" : ""}[${about.replaceAll(/[[\]]/g, "")}]`),
    );
    const words = wordsOf(command);
    const first = words.length > 0 ? [quoted(`1:${name}:(${words.join(" ")})`)] : [];
    return `    ${name}) _arguments ${[...options, ...first, quoted("*:file:_files")].join(" ")} ;;`;
  });
  return `#compdef kibitz
_kibitz() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = _kibitz ]; then _kibitz "$@"; else compdef _kibitz kibitz; fi
`;
}

function fish(commands: NamedCommands): string {
  const lines = commands.flatMap(([name, command]) => [
    `complete -c kibitz -n __fish_use_subcommand -a ${name} -d ${quoted(command.about)}`,
    ...wordsOf(command).map(
      (word) => `complete -c kibitz -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -a ${word}`,
    ),
    ...optionsOf(command).map(
      ([flag, { about, type }]) =>
        `complete -c kibitz -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -l ${flag}${type === "string" ? " -r" : ""} -d ${quoted(about)}`,
    ),
  ]);
  return `${lines.join("\n")}\n`;
}

/** Quotes a text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
