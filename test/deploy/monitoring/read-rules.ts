import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const monitoringFolder = fileURLToPath(new URL("../../../deploy/monitoring/", import.meta.url));
export const rulesFile = `${monitoringFolder}rules.yml`;
export const rulesText = readFileSync(rulesFile, "utf8");

interface Alert {
  readonly name: string;
  /** All of it. */
  readonly text: string;
}

/** In the YAML file, each rule begins with `-` at an indent of six spaces. */
const rules = rulesText.split(/^ {6}(?=- )/m).slice(1);

export const alerts: readonly Alert[] = rules.flatMap((text) => {
  const [, name] = /^- alert: (\w+)$/m.exec(text) ?? [];
  return name === undefined ? [] : [{ name, text }];
});

export const recorded: readonly string[] = rules.flatMap(
  (text) => /^- record: (\S+)$/m.exec(text)?.[1] ?? [],
);

export const ruleQueries: readonly string[] = rules.map((text) => {
  const [, line = "", block = ""] = /^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/m.exec(text) ?? [];
  return line || block;
});
