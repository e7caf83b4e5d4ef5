import { type Command, exitCode, UsageError } from "./command.ts";
import { completionFor, isShell, type NamedCommands, shells } from "./write-completion.ts";

/** @param commands all of them, this one too */
export const createCompletion = (commands: () => Promise<NamedCommands>): Command => ({
  usage: `completion ${shells.join("|")}`,
  about: "Print what a shell needs to complete commands and options.",
  options: {},
  notes: [
    "bash:  kibitz completion bash > ~/.local/share/bash-completion/completions/kibitz",
    "zsh:   kibitz completion zsh > a folder of $fpath/_kibitz",
    "fish:  kibitz completion fish > ~/.config/fish/completions/kibitz.fish",
  ],
  async run({ positionals: [shell, ...more], host }) {
    if (shell === undefined || !isShell(shell) || more.length > 0) {
      throw new UsageError(`give one of ${shells.join(", ")}`);
    }
    host.stdout.write(completionFor(shell, await commands()));
    return exitCode.ok;
  },
});
