import { type Component, components } from "./components.ts";

/** For `.ci/run`: prints the packages of Debian that would bring what tests need and is not here. */
const missing = Object.values<Component>(components).filter((component) => !component.isHere());
console.log(missing.flatMap(({ debian }) => debian ?? []).join(" "));
