import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

/** To be imported before all else: writes down which modules a process reads, a line each, into the file LIST_MODULES. */
const file = process.env.LIST_MODULES;
if (file) {
  registerHooks({
    load(url, context, load) {
      appendFileSync(file, `${url}\n`);
      return load(url, context);
    },
  });
}
