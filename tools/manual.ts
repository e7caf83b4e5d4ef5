/** Writes the manual page `dist/man/kibitz.1` from the same texts as `--help`. */
import { mkdirSync, writeFileSync } from "node:fs";
import manifest from "../package.json" with { type: "json" };
import { helpOption } from "../src/cli/command.ts";
import { allCommands } from "../src/cli/commands.ts";
import { describeSettings } from "../src/wiring/config.ts";

export async function manual(): Promise<string> {
  const commands = await allCommands();
  const parts = commands.map(({ usage, about, options, notes }) =>
    [
      `.SS ${escaped(`kibitz ${usage}`)}`,
      escaped(about),
      ...Object.entries({ ...options, help: helpOption }).flatMap(([name, { short, value, about: what }]) => [
        ".TP",
        `.B ${escaped(`${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`)}`,
        escaped(what),
      ]),
      // Leave out the notes of `serve`, because the settings have their own section.
      ...(usage === "serve" ? [] : notes.flatMap((note) => [".PP", escaped(note)])),
    ].join("\n"),
  );
  const settings = describeSettings().flatMap(({ key, about, default: value }) => [
    ".TP",
    `.B ${escaped(key)}`,
    // Leave out a default that depends on the machine, because the description explains it.
    escaped(`${about}${value === "" || about.includes("by default") ? "" : ` (${value})`}`),
  ]);
  return `.TH KIBITZ 1 "" "kibitz ${manifest.version}" "User Commands"
.SH NAME
kibitz \\- ${escaped(manifest.description)}
.SH SYNOPSIS
.B kibitz
.RI [ command ]
.RI [ options ]
.SH COMMANDS
Without a command, kibitz runs serve.
${parts.join("\n")}
.SH ENVIRONMENT
${settings.join("\n")}
.SH EXIT STATUS
0 success, 1 failure, 2 invalid arguments or a request that must be changed, 130 interrupted.
`;
}

/** Escapes control characters and hyphens, which roff would change. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
}

if (import.meta.main) {
  const folder = new URL("../dist/man/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("kibitz.1", folder), await manual());
}
