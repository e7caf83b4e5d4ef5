import { type Component, components } from "./components.ts";

/** Prints the missing Debian packages that tests need. Used by `.ci/run`. */
const missing = Object.values<Component>(components).filter((component) => !component.isHere());
console.log(missing.flatMap(({ debian }) => debian ?? []).join(" "));
