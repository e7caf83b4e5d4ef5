/** Writes the manual, `dist/man/kibitz.1`, from the texts of `--help`. This is part of `npm run build`. */
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
      // The notes of serve are the settings, which have their own section.
      ...(usage === "serve" ? [] : notes.flatMap((note) => [".PP", escaped(note)])),
    ].join("\n"),
  );
  const settings = describeSettings().flatMap(({ key, about, default: value }) => [
    ".TP",
    `.B ${escaped(key)}`,
    // Leave out defaults that depend on the machine: their texts explain them.
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

/** Escapes the control characters of roff, and the hyphens, which roff would otherwise change. */
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
