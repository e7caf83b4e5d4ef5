import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

/** Writes the paths of all loaded modules to the file that LIST_MODULES names. Import this module before all others. */
const file = process.env.LIST_MODULES;
if (file) {
  registerHooks({
    load(url, context, load) {
      appendFileSync(file, `${url}\n`);
      return load(url, context);
    },
  });
}
