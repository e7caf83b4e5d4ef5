import { readdirSync, readFileSync } from "node:fs";
import { createEcmaScriptPlugin, runNodeJs } from "@bufbuild/protoplugin";
import { documentOf } from "./document.ts";
import type { Example } from "./examples.ts";

/** A plugin for `buf generate`, which writes openapi.json. */

const examplesFolder = new URL("../../docs/examples/", import.meta.url);

function readExamples(): readonly Example[] {
  return readdirSync(examplesFolder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => ({
      name: file.replace(/\.json$/, ""),
      ...JSON.parse(readFileSync(new URL(file, examplesFolder), "utf8")),
    }));
}

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

runNodeJs(
  createEcmaScriptPlugin({
    name: "openapi",
    version,
    generateTs: (schema) => {
      const services = schema.files.flatMap((file) => file.services);
      const document = documentOf({ services, version, examples: readExamples() });
      schema.generateFile("openapi.json").print(JSON.stringify(document, undefined, 2));
    },
  }),
);
