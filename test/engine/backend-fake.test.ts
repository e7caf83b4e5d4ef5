import { testBackend } from "../contract/backend.ts";
import { createFakeBackend } from "../support/fake-engine/index.ts";

// What the suite says of engines is true of one that was made for it: so it is the suite that is tried here.
testBackend("The fake engine", (times) => createFakeBackend({ times, iterationMs: 3 }), {
  pickBuild: ([build]) => build,
  depth: 8,
});
