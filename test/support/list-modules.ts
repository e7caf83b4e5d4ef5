import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

/**
 * Writes the path of each module that the process loads to the file LIST_MODULES, one a line. Import this file before all others.
 */
const file = process.env.LIST_MODULES;
if (file) {
  registerHooks({
    load(url, context, load) {
      appendFileSync(file, `${url}\n`);
      return load(url, context);
    },
  });
}
