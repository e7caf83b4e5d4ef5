import { testTinyParts } from "./tiny-parts.ts";

/** A body that is read, one that does not end, and one that nobody reads. All paths are tested every night. */
const tested = ["/v1/eval", "/v1/keys", "/nothing"];
testTinyParts((path) => tested.includes(path));
